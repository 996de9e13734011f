//! A part as Markdown, for people. Every text of the log stands in a fence that is longer than any in it, or in a
//! code span: nothing of it is read as Markdown or HTML.

use crate::lines::Lines;
use crate::masking::Masking;
use crate::page::{clock, date, duration, times, Item, Page, Tool, What};
use crate::Error;
use std::io::Write;

pub(crate) fn write(
    lines: &Lines<'_>,
    masking: &Masking,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let page = Page::of(lines, masking)?;
    writeln!(out, "# {}\n", span(&page.title))?;
    if let (Some(first), Some(last)) = (page.first, page.last) {
        writeln!(
            out,
            "{} to {} · {} events",
            date(first),
            date(last),
            lines.events()
        )?;
    } else {
        writeln!(out, "{} events", lines.events())?;
    }
    if page.masked > 0 {
        writeln!(
            out,
            "\n{} values that look like secrets are masked.",
            page.masked
        )?;
    }
    if page.records > 0 {
        writeln!(
            out,
            "\n{} records that are no events are left out.",
            page.records
        )?;
    }
    if !page.files.is_empty() {
        writeln!(out, "\n## Files\n")?;
        for (path, changes) in &page.files {
            let times = if *changes == 1 { "change" } else { "changes" };
            writeln!(out, "- {}: {changes} {times}", span(path))?;
        }
    }
    if let Some(audit) = &page.audit {
        writeln!(out, "\n## Tools\n\n| tool | calls | ok | error | denied | cancelled | timeout | interrupted | total | median | longest |")?;
        writeln!(out, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")?;
        for it in audit.tools.iter().chain([&audit.all]) {
            let name = match it.tool.is_empty() {
                true => "all".to_owned(),
                // A bar would end the cell, in a code span too.
                false => span(&masking.text(&it.tool).replace('|', "\u{ff5c}")),
            };
            let [total, median, longest] = times(it);
            writeln!(
                out,
                "| {name} | {} | {} | {} | {} | {} | {} | {} | {total} | {median} | {longest} |",
                it.calls, it.ok, it.error, it.denied, it.cancelled, it.timeout, it.interrupted
            )?;
        }
    }
    if !page.findings.is_empty() {
        writeln!(out, "\n## Findings\n")?;
        for found in &page.findings {
            writeln!(
                out,
                "- **{}** {} at {}: {}",
                found.severity,
                span(found.code),
                span(&found.place),
                span(&found.message)
            )?;
        }
    }
    writeln!(out, "\n## What happened")?;
    for item in &page.items {
        one(item, out)?;
    }
    Ok(())
}

fn one(item: &Item, out: &mut dyn Write) -> Result<(), Error> {
    let time = item
        .time
        .map(|it| format!(" · {}", clock(it)))
        .unwrap_or_default();
    match &item.what {
        What::State { files, messages } => writeln!(
            out,
            "\n*Before this part: {files} files, {messages} rows of dialogue.*"
        )?,
        What::Said { role, text } => {
            let name = match *role {
                "user" => "User",
                "assistant" => "Assistant",
                _ => "System",
            };
            writeln!(out, "\n### {name}{time}\n")?;
            fence(text, "text", out)?;
        }
        What::Claim { call, status, text } => {
            writeln!(
                out,
                "\nThe dialogue was told: {} of {}",
                span(status),
                span(call)
            )?;
            if !text.is_empty() {
                writeln!(out)?;
                fence(text, "text", out)?;
            }
        }
        What::Tool(tool) => called(tool, &time, out)?,
        What::File {
            name,
            path,
            diff,
            certainty,
        } => {
            writeln!(out, "\n**File {name}**: {} ({certainty}){time}", span(path))?;
            if !diff.is_empty() {
                writeln!(out)?;
                fence(diff, "diff", out)?;
            }
        }
        What::Other { name, text } => {
            writeln!(out, "\n{}{time}\n", span(name))?;
            fence(text, "json", out)?;
        }
        What::Opaque(text) => {
            writeln!(
                out,
                "\nA line that is no event, at {}:\n",
                span(&item.place)
            )?;
            fence(text, "text", out)?;
        }
    }
    Ok(())
}

fn called(tool: &Tool, time: &str, out: &mut dyn Write) -> Result<(), Error> {
    let took = tool
        .duration
        .map(|it| format!(" in {}", duration(it)))
        .unwrap_or_default();
    writeln!(
        out,
        "\n#### Tool {}: {}{took}{time}",
        span(&tool.name),
        span(&tool.status)
    )?;
    if !tool.args.is_empty() {
        writeln!(out)?;
        fence(&tool.args, "json", out)?;
    }
    if !tool.result.is_empty() {
        writeln!(out, "\nResult:\n")?;
        fence(&tool.result, "text", out)?;
    }
    Ok(())
}

/// The longest run of backticks.
fn run(text: &str) -> usize {
    let mut longest = 0;
    let mut now = 0;
    for c in text.chars() {
        now = if c == '`' { now + 1 } else { 0 };
        longest = longest.max(now);
    }
    longest
}

fn fence(text: &str, language: &str, out: &mut dyn Write) -> Result<(), Error> {
    let marks = "`".repeat((run(text) + 1).max(3));
    // Other line ends would end a line for some readers; a NUL is no text.
    let text = text.replace("\r\n", "\n").replace(['\r', '\0'], "\u{fffd}");
    let end = if text.ends_with('\n') { "" } else { "\n" };
    writeln!(out, "{marks}{language}\n{text}{end}{marks}")?;
    Ok(())
}

/// A name in a line: one line, as code.
fn span(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if text.trim().is_empty() {
        return "` `".to_owned();
    }
    let marks = "`".repeat(run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{marks}{pad}{text}{pad}{marks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_its_fence() {
        let mut out = Vec::new();
        fence("a\n````\n<b>\r# x", "text", &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "`````text\na\n````\n<b>\u{fffd}# x\n`````\n"
        );
        assert_eq!(span("a`b\n# c"), "``a`b\u{fffd}# c``");
        assert_eq!(span("`"), "`` ` ``");
    }
}
