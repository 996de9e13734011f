//! A part as one HTML page that needs nothing else: its own style, no script, no network (its policy allows neither),
//! every text of the log escaped.

use crate::audit::Audit;
use crate::lines::Lines;
use crate::masking::Masking;
use crate::page::{clock, date, duration, times, Item, Page, Tool, What};
use crate::Error;
use sha2::{Digest, Sha256};
use std::io::Write;

/// The window's own colours and sizes.
const TOKENS: &str = include_str!("../../../ui/src/kit/tokens.css");
const STYLE: &str = include_str!("page.css");

pub(crate) fn write(
    lines: &Lines<'_>,
    masking: &Masking,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let page = Page::of(lines, masking)?;
    let style = format!("{TOKENS}{STYLE}");
    let hash = base64(&Sha256::digest(style.as_bytes()));
    let title = escaped(&page.title);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"
    )?;
    head(&page, lines.events(), masking, out)?;
    writeln!(out, "<main>")?;
    for item in &page.items {
        one(item, out)?;
    }
    writeln!(out, "</main>\n</body>\n</html>")?;
    Ok(())
}

fn head(page: &Page, events: u64, masking: &Masking, out: &mut dyn Write) -> Result<(), Error> {
    writeln!(out, "<header>\n<h1>{}</h1>", escaped(&page.title))?;
    let mut facts = Vec::new();
    if let (Some(first), Some(last)) = (page.first, page.last) {
        facts.push(format!("{} to {}", date(first), date(last)));
    }
    facts.push(format!("{events} events"));
    if page.masked > 0 {
        facts.push(format!(
            "{} values that look like secrets are masked",
            page.masked
        ));
    }
    if page.records > 0 {
        facts.push(format!(
            "{} records that are no events are left out",
            page.records
        ));
    }
    writeln!(out, "<p class=\"q\">{}</p>", escaped(&facts.join(" · ")))?;
    if !page.files.is_empty() {
        let files = page.files.len();
        writeln!(
            out,
            "<details><summary>Files <span class=\"q\">{files}</span></summary><ul>"
        )?;
        for (path, changes) in &page.files {
            writeln!(
                out,
                "<li><code>{}</code> <span class=\"q\">{changes}</span></li>",
                escaped(path)
            )?;
        }
        writeln!(out, "</ul></details>")?;
    }
    if let Some(audit) = &page.audit {
        figures(audit, masking, out)?;
    }
    if !page.findings.is_empty() {
        let found = page.findings.len();
        writeln!(
            out,
            "<details><summary>Findings <span class=\"q\">{found}</span></summary><ul>"
        )?;
        for found in &page.findings {
            writeln!(
                out,
                "<li><b class=\"{}\">{}</b> <code>{}</code> <span class=\"q\">{}</span> {}</li>",
                found.severity,
                found.severity,
                found.code,
                escaped(&found.place),
                escaped(&found.message)
            )?;
        }
        writeln!(out, "</ul></details>")?;
    }
    writeln!(out, "</header>")?;
    Ok(())
}

fn figures(audit: &Audit, masking: &Masking, out: &mut dyn Write) -> Result<(), Error> {
    writeln!(
        out,
        "<table><caption>Tools</caption><tr><th>tool<th>calls<th>ok<th>error<th>denied<th>cancelled<th>timeout<th>interrupted<th>total<th>median<th>longest</tr>"
    )?;
    for it in audit.tools.iter().chain([&audit.all]) {
        let name = match it.tool.is_empty() {
            true => "all".to_owned(),
            false => format!("<code>{}</code>", escaped(&masking.text(&it.tool))),
        };
        let [total, median, longest] = times(it);
        write!(out, "<tr><td>{name}")?;
        for count in [
            it.calls,
            it.ok,
            it.error,
            it.denied,
            it.cancelled,
            it.timeout,
            it.interrupted,
        ] {
            write!(out, "<td>{count}")?;
        }
        writeln!(out, "<td>{total}<td>{median}<td>{longest}</tr>")?;
    }
    writeln!(out, "</table>")?;
    Ok(())
}

fn one(item: &Item, out: &mut dyn Write) -> Result<(), Error> {
    let time = item.time.map(clock).unwrap_or_default();
    let side = format!(
        "<span class=\"side\" title=\"{}\">{time}</span>",
        escaped(&format!("{} {}", item.place, item.id))
    );
    match &item.what {
        What::State { files, messages } => writeln!(
            out,
            "<p class=\"state q\">Before this part: {files} files, {messages} rows of dialogue.</p>"
        )?,
        What::Said { role, text } => {
            let name = match *role {
                "user" => "User",
                "assistant" => "Assistant",
                _ => "System",
            };
            writeln!(
                out,
                "<section class=\"said {role}\">{side}<h2>{name}</h2><div class=\"text\">{}</div></section>",
                escaped(text)
            )?;
        }
        What::Claim { call, status, text } => {
            let (call, status) = (escaped(call), escaped(status));
            write!(
                out,
                "<details class=\"row\"><summary>{side}The dialogue was told <b>{status}</b> <code>{call}</code></summary>"
            )?;
            pre(text, out)?;
            writeln!(out, "</details>")?;
        }
        What::Tool(tool) => called(tool, &side, out)?,
        What::File {
            name,
            path,
            diff,
            certainty,
        } => {
            let open = if diff.len() < 4_000 { " open" } else { "" };
            write!(
                out,
                "<details class=\"row file\"{open}><summary>{side}File {name} <code>{}</code> <span class=\"q\">{certainty}</span></summary>",
                escaped(path)
            )?;
            lines_of_diff(diff, out)?;
            writeln!(out, "</details>")?;
        }
        What::Other { name, text } => {
            write!(
                out,
                "<details class=\"row\"><summary>{side}<code>{}</code></summary>",
                escaped(name)
            )?;
            pre(text, out)?;
            writeln!(out, "</details>")?;
        }
        What::Opaque(text) => {
            write!(
                out,
                "<details class=\"row\"><summary>{side}A line that is no event <span class=\"q\">{}</span></summary>",
                escaped(&item.place)
            )?;
            pre(text, out)?;
            writeln!(out, "</details>")?;
        }
    }
    Ok(())
}

fn called(tool: &Tool, side: &str, out: &mut dyn Write) -> Result<(), Error> {
    let took = tool.duration.map(duration).unwrap_or_default();
    let class = match &*tool.status {
        "ok" => "ok",
        "pending" => "q",
        _ => "error",
    };
    write!(
        out,
        "<details class=\"row tool\"><summary>{side}Tool <code>{}</code> <b class=\"{class}\">{}</b> <span class=\"q\">{took}</span> <span class=\"hint\">{}</span></summary>",
        escaped(&tool.name),
        escaped(&tool.status),
        escaped(&hint(&tool.args))
    )?;
    pre(&tool.args, out)?;
    if !tool.result.is_empty() {
        write!(out, "<h3>Result</h3>")?;
        pre(&tool.result, out)?;
    }
    writeln!(out, "</details>")?;
    Ok(())
}

/// The first word of the arguments that says something, for the closed row.
fn hint(args: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(args).unwrap_or_default();
    let text = [
        "command",
        "cmd",
        "file_path",
        "path",
        "file",
        "pattern",
        "query",
        "url",
    ]
    .iter()
    .find_map(|key| value.get(key)?.as_str());
    let line = text.unwrap_or_default().lines().next().unwrap_or_default();
    line.chars().take(120).collect()
}

fn pre(text: &str, out: &mut dyn Write) -> Result<(), Error> {
    if !text.is_empty() {
        // The line end after the tag is not part of the text.
        write!(out, "<pre>\n{}</pre>", escaped(text))?;
    }
    Ok(())
}

fn lines_of_diff(diff: &str, out: &mut dyn Write) -> Result<(), Error> {
    if diff.is_empty() {
        return Ok(());
    }
    writeln!(out, "<pre class=\"diff\">")?;
    let mut body = false;
    for line in diff.lines() {
        body |= line.starts_with("@@");
        let tag = match line.as_bytes().first() {
            Some(b'@') => "i",
            Some(b'+') if body => "ins",
            Some(b'-') if body => "del",
            _ => "span",
        };
        writeln!(out, "<{tag}>{}</{tag}>", escaped(line))?;
    }
    write!(out, "</pre>")?;
    Ok(())
}

/// Text for an element or a quoted attribute. Controls and the marks that turn the writing direction are shown.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\r' => {}
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for part in bytes.chunks(3) {
        let byte = |at: usize| u32::from(part.get(at).copied().unwrap_or(0));
        let all = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS.get((all >> (18 - 6 * at) & 63) as usize);
            out.push(match (at <= part.len(), letter) {
                (true, Some(letter)) => char::from(*letter),
                _ => '=',
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_the_policy_wants_it() {
        assert_eq!(base64(b"Man"), "TWFu");
        assert_eq!(base64(b"Ma"), "TWE=");
        assert_eq!(base64(b"M"), "TQ==");
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(
            escaped("<script a='\"'>&\u{202e}\u{1b}\r\n"),
            "&lt;script a=&#39;&quot;&#39;&gt;&amp;\u{fffd}\u{fffd}\n"
        );
    }
}
