// Running text and the blocks of code in it, by fences of three backticks or tildes. Pure; nothing else of Markdown is
// read: a message is shown as it was written.

export interface Piece {
  code: boolean;
  text: string;
}

export function pieces(text: string): Piece[] {
  const out: Piece[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  const flush = (code: boolean) => {
    const joined = lines.join('\n');
    if (joined.trim() !== '' || (code && lines.length)) out.push({ code, text: joined });
    lines = [];
  };
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === null && mark !== undefined) {
      flush(false);
      fence = mark;
    } else if (fence !== null && mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length) {
      flush(true);
      fence = null;
    } else lines.push(line);
  }
  flush(fence !== null);
  return out;
}
