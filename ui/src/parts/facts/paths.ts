// Paths where there is little room: the last names, which tell most. The whole path stays in a title beside it.

/** `/home/li/billing-api/app/x.py` → `…/billing-api/app/x.py`; a path of no more names stays as it is. */
export function pathTail(path: string, names = 3): string {
  const parts = path.split(/[\\/]/u);
  const kept = parts.filter((part) => part !== '').slice(-names);
  if (parts.filter((part) => part !== '').length <= names) return path;
  return `…/${kept.join('/')}`;
}
