/**
 * Numbers, sizes and times for people, in the language of the moment. Times are Unix milliseconds, shown in the
 * machine's zone; sizes are bytes, in powers of 1,000.
 */
import { language, type Tongue } from './language.svelte';

function per<T>(make: (locale: string) => T): () => T {
  const made = new Map<Tongue, T>();
  return () => {
    const tongue = language.tongue;
    const old = made.get(tongue);
    if (old !== undefined) return old;
    // Day before month, as everywhere in the window.
    const fresh = make(tongue === 'en' ? 'en-GB' : tongue);
    made.set(tongue, fresh);
    return fresh;
  };
}

const whole = per((locale) => new Intl.NumberFormat(locale));
const tenths = per((locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }));
const dates = per((locale) => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' }));
const fullDates = per(
  (locale) => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric' }),
);
const months = per((locale) => new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric' }));
const zh = () => language.tongue === 'zh-CN';
const two = (n: number) => String(n).padStart(2, '0');

/** 12406 → `12,406`. */
export function count(n: number): string {
  return whole().format(n);
}

/** Short above 100,000: `1.2 M`, `120.4 万`. */
export function compact(n: number): string {
  if (n < 100_000) return count(n);
  if (zh()) return `${tenths().format(n / 10_000)} 万`;
  return n < 1_000_000 ? `${whole().format(Math.round(n / 1000))} k` : `${tenths().format(n / 1_000_000)} M`;
}

/** 4812 → `4.8 kB`. */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = n;
  let unit = -1;
  do {
    value /= 1000;
    unit++;
  } while (value >= 999.5 && unit < units.length - 1);
  const digits = value < 10 ? 1 : 0;
  return `${value.toFixed(digits)} ${units[unit] ?? ''}`;
}

/** `12:03:22.120`; `parts` leaves out the milliseconds, or the seconds too. */
export function clock(ms: number, parts: 'ms' | 's' | 'm' = 'ms'): string {
  const date = new Date(ms);
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (parts === 'm') return minutes;
  const seconds = `${minutes}:${two(date.getSeconds())}`;
  return parts === 's' ? seconds : `${seconds}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** `30 Nov`, with the year when it is not this one. */
export function day(ms: number, now = Date.now()): string {
  const format = new Date(ms).getFullYear() === new Date(now).getFullYear() ? dates() : fullDates();
  return format.format(ms);
}

/** `November 2026`. */
export function month(ms: number): string {
  return months().format(ms);
}

/** What stands between a day and a time. */
export function comma(): string {
  return zh() ? ' ' : ', ';
}

/** `30 Nov, 12:03:22`. */
export function moment(ms: number, now = Date.now()): string {
  return `${day(ms, now)}${zh() ? ' ' : ', '}${clock(ms, 's')}`;
}

/** A length of time, two units at most: `8 min 00 s`, `1 h 24 min`, `38 ms`. */
export function span(ms: number): string {
  const unit = zh()
    ? { d: '天', h: '小时', m: '分', s: '秒', ms: '毫秒' }
    : { d: 'd', h: 'h', m: 'min', s: 's', ms: 'ms' };
  const value = Math.max(0, ms);
  if (value < 1000) return `${Math.round(value)} ${unit.ms}`;
  const seconds = value / 1000;
  if (seconds < 10) return `${tenths().format(seconds)} ${unit.s}`;
  const s = Math.floor(seconds);
  if (s < 60) return `${s} ${unit.s}`;
  if (s < 3600) return `${Math.floor(s / 60)} ${unit.m} ${two(s % 60)} ${unit.s}`;
  if (s < 86_400) return `${Math.floor(s / 3600)} ${unit.h} ${two(Math.floor(s / 60) % 60)} ${unit.m}`;
  return `${Math.floor(s / 86_400)} ${unit.d} ${Math.floor(s / 3600) % 24} ${unit.h}`;
}

/** Age, one unit: `4 min`, `3 h`, `2 d`; under a minute `now`. */
export function age(ms: number, now = Date.now()): string {
  const s = Math.floor(Math.max(0, now - ms) / 1000);
  if (s < 60) return zh() ? '刚刚' : 'now';
  if (s < 3600) return zh() ? `${Math.floor(s / 60)} 分钟` : `${Math.floor(s / 60)} min`;
  if (s < 86_400) return zh() ? `${Math.floor(s / 3600)} 小时` : `${Math.floor(s / 3600)} h`;
  return zh() ? `${Math.floor(s / 86_400)} 天` : `${Math.floor(s / 86_400)} d`;
}
