#!/usr/bin/env python3
"""Writes README.md, report.html, hosts/*.md, board.tex and the figures from tables/*.csv, kills.csv and the prose of page.md."""

import collections
import csv
import html
import pathlib
import re
import tomllib

from numbers_of import CLASSES, marks, table

HERE = pathlib.Path(__file__).resolve().parent
STUDY = tomllib.loads((HERE / "study.toml").read_text())
REPOSITORY = {source["name"]: (source["repository"], source["commit"]) for source in STUDY["source"]}
INK = {"harmless": "#2a7f4f", "kills": "#b3261e", "unresolved": "#8a8f98", "useful": "#2a7f4f", "useless": "#b3261e"}


def number(text):
    return float(text) if text not in ("", None) else None


def percent(value, digits=1):
    return "–" if value in ("", None) else re.sub(r"^-(0(?:\.0+)?)$", r"\1", f"{float(value) * 100:.{digits}f}")


def span(low, high, digits=1):
    a, b = percent(low, digits), percent(high, digits)
    return a if a == b else f"{a} to {b}" if a.startswith("-") or b.startswith("-") else f"{a}–{b}"


def interval(row, name):
    low, high = row.get(f"{name}_bound_low"), row.get(f"{name}_bound_high")
    return "–" if not high else f"{percent(low)} to {percent(high)}" if low else f"at most {percent(high)}"


def killed(row):
    count = row["killed_low"] if row["killed_low"] == row["killed_high"] else f"{row['killed_low']}–{row['killed_high']}"
    return f"{count} of {row['judged_successes']}"


def markdown(head, rows):
    align = ["---"] + ["---:" if title.endswith("%") or title in ("runs", "tasks", "acted", "steps") else "---" for title in head[1:]]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in [head, align, *rows])


# --- Figures --------------------------------------------------------------------------------------------------------------

def forest(rows, name, title, low, high, mark, span_of):
    """Intervals as an SVG: a line for each row, with what the recordings allow as a thick bar."""
    rows = [row for row in rows if number(row[high]) is not None]
    top, left, width, step = 54, 250, 560, 19
    least, most = span_of
    tall = top + step * len(rows) + 46

    def x(value):
        return left + (min(max(value, least), most) - least) / (most - least) * width

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 130} {tall}" font-family="Helvetica, Arial, sans-serif" font-size="12">',
             f'<rect width="100%" height="100%" fill="#fff"/><text x="12" y="22" font-size="15" font-weight="bold">{html.escape(title)}</text>']
    for tick in range(6):
        value = least + (most - least) * tick / 5
        parts.append(f'<line x1="{x(value):.1f}" y1="{top - 8}" x2="{x(value):.1f}" y2="{tall - 34}" stroke="#e3e5e8"/>'
                     f'<text x="{x(value):.1f}" y="{tall - 16}" text-anchor="middle" fill="#555">{value * 100:.0f} %</text>')
    parts.append(f'<line x1="{x(mark):.1f}" y1="{top - 8}" x2="{x(mark):.1f}" y2="{tall - 34}" stroke="#333" stroke-dasharray="4 3"/>'
                 f'<text x="{x(mark) + 4:.1f}" y="{top - 12}" fill="#333">{mark * 100:.0f} %</text>')
    for place, row in enumerate(rows):
        y = top + step * place + 8
        ink = INK.get(row["harm" if name.startswith("kill") else "use"], "#3b5b92")
        a, b = number(row[low]), number(row[high])
        ma, mb = number(row[low.replace("bound", "mean")]), number(row[high.replace("bound", "mean")])
        start = least if a is None else a
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{html.escape(row["strategy"])}</text>')
        parts.append(f'<line x1="{x(start):.1f}" y1="{y}" x2="{x(b):.1f}" y2="{y}" stroke="{ink}" stroke-width="1.5"/>')
        if a is None:
            parts.append(f'<text x="{left + 2}" y="{y + 4}" fill="{ink}">‹</text>')
        ma = start if ma is None else ma
        if mb is not None:
            parts.append(f'<rect x="{x(ma) - 2:.1f}" y="{y - 4}" width="{max(4, x(mb) - x(ma) + 4):.1f}" height="8" fill="{ink}"/>')
        parts.append(f'<text x="{left + width + 8}" y="{y + 4}" fill="#555">{"≤" if a is None else percent(a) + " to "}{percent(b)}</text>')
    parts.append("</svg>\n")
    (HERE / "figures").mkdir(exist_ok=True)
    (HERE / "figures" / f"{name}.svg").write_text("\n".join(parts))


def heat(rows, name, title, value, words):
    """Guards by classes, each cell with its verdict's colour and its interval."""
    columns = [(kind, long) for kind in CLASSES for long in ("up to 20", "over 20") if any(r["class"] == kind and r["length"] == long for r in rows)]
    names = [n for n in STUDY["strategies"]["guards"] if any(r["strategy"] == n and r["judged"] != "0" for r in rows)]
    left, top, wide, step = 210, 96, 78, 24
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + wide * len(columns) + 20} {top + step * len(names) + 50}" font-family="Helvetica, Arial, sans-serif" font-size="11">',
             f'<rect width="100%" height="100%" fill="#fff"/><text x="12" y="22" font-size="15" font-weight="bold">{html.escape(title)}</text>']
    for place, (kind, long) in enumerate(columns):
        parts.append(f'<text x="{left + wide * place + wide / 2}" y="{top - 28}" text-anchor="middle" font-weight="bold">{kind}</text>'
                     f'<text x="{left + wide * place + wide / 2}" y="{top - 12}" text-anchor="middle" fill="#555">{"≤ 20" if long == "up to 20" else "&gt; 20"}</text>')
    fill = {"harmless": "#cfe8d8", "kills": "#f3c9c5", "useful": "#cfe8d8", "useless": "#f3c9c5", "unresolved": "#eef0f2"}
    for line, guard in enumerate(names):
        y = top + step * line
        parts.append(f'<text x="{left - 8}" y="{y + 16}" text-anchor="end">{html.escape(guard)}</text>')
        for place, column in enumerate(columns):
            row = next((r for r in rows if r["strategy"] == guard and (r["class"], r["length"]) == column), None)
            verdict = row[words] if row else ""
            text = "" if row is None or verdict not in fill else (f"{percent(row[value + '_bound_low'], 0)}–{percent(row[value + '_bound_high'], 0)}" if value == "kill" else
                    f"{percent(row[value + '_bound_low'], 0)} to {percent(row[value + '_bound_high'], 0)}" if row[value + "_bound_low"] else f"≤ {percent(row[value + '_bound_high'], 0)}")
            parts.append(f'<rect x="{left + wide * place + 1}" y="{y + 1}" width="{wide - 2}" height="{step - 2}" fill="{fill.get(verdict, "#fff")}" stroke="#e3e5e8"/>'
                         f'<text x="{left + wide * place + wide / 2}" y="{y + 16}" text-anchor="middle">{text}</text>')
    key = top + step * len(names) + 24
    for place, (word, ink) in enumerate(list(fill.items())[:2] + [("unresolved", "#eef0f2")] if value == "kill" else [("useful", "#cfe8d8"), ("useless", "#f3c9c5"), ("unresolved", "#eef0f2")]):
        parts.append(f'<rect x="{left + place * 120}" y="{key - 12}" width="14" height="14" fill="{ink}" stroke="#ccc"/><text x="{left + place * 120 + 20}" y="{key}">{word}</text>')
    parts.append(f'<text x="{left + 370}" y="{key}" fill="#555">95 % bounds in %, empty: not judged or fewer than 8 tasks</text></svg>\n')
    (HERE / "figures").mkdir(exist_ok=True)
    (HERE / "figures" / f"{name}.svg").write_text("\n".join(parts))


# --- Pages ----------------------------------------------------------------------------------------------------------------

def link(kill):
    repository, commit = REPOSITORY[kill["source"]]
    return f"https://github.com/{repository}/blob/{commit}/{kill['path'].replace(' ', '%20')}"


def kills():
    found = collections.defaultdict(list)
    with (HERE / "kills.csv").open() as file:
        for row in csv.DictReader(file):
            found[row["strategy"]].append(row)
    return found


def verdict(row):
    words = row["harm"] + ("" if row["use"] in ("", row["harm"], "summary") else f", {row['use']}")
    return words + (f" (rests on {row['rests_on'].replace(' ', ', ')})" if row.get("rests_on") else "")


def board_lines(rows, names, part, classes=(*CLASSES, "all work")):
    lines = []
    for name in names:
        for row in rows:
            if row["part"] == part and row["strategy"] == name and row["class"] in classes and row["kill_bound_high"]:
                lines.append([name, f"{row['class']}, {row['length']}", killed(row), interval(row, "kill"), percent(row["random_stop_kills"]), interval(row, "net"),
                              verdict(row) if row["kind"] == "guard" else row["kind"]])
    return lines


HEAD = ["strategy", "class, steps", "successes killed", "killed, 95 %, %", "random stop kills, %", "net saved, 95 %, %", "verdict"]


def host_pages(rows, found):
    folder = HERE / "hosts"
    folder.mkdir(exist_ok=True)
    for host in tomllib.loads((HERE / "hosts.toml").read_text())["host"]:
        text = [f"# {host['name']}: what should your default be?", "",
                f"Shipped: {host['default']}. {host['asks']}", ""]
        held = [row for row in rows if row["part"] == "held" and row["strategy"] in host["rows"]]
        bad = [row for row in held if row["harm"] == "kills"]
        good = [row for row in held if row["harm"] == "harmless"]
        pays = [row for row in held if row["use"] == "useful"]
        idle = [row for row in held if row["use"] == "useless"]

        def told(word, cells):
            names = collections.defaultdict(list)
            for row in cells:
                names[row["strategy"]].append(f"{row['class']} {row['length']}")
            return f"- **{word}**: " + "; ".join(f"`{name}` in {', '.join(where)}" for name, where in names.items()) + "." if names else ""
        answer = [told("kills more than 1 %", bad), told("harmless", good), told("useful", pays), told("useless (saves less than 2 % net, or costs)", idle)]
        text += ["## The answer on the held-out half", "", "\n".join(part for part in answer if part) or "Nothing is decided: every class is unresolved or has too few tasks, and the bounds below say what is left.",
                 "", "Whatever is not named is unresolved; the bounds say how far.", "", "## All bounds", "",
                 markdown(HEAD, board_lines(rows, host["rows"], "held")), "",
                 "The same over both halves (the shipped numbers were chosen by neither):", "",
                 markdown(HEAD, board_lines(rows, host["rows"], "both", ("all work",))), ""]
        listed = [kill for name in host["rows"] for kill in found.get(name, [])]
        text += ["## Killed successes to read", ""]
        if listed:
            chosen, used = [], set()
            for kill in listed:
                if (kill["class"], kill["strategy"]) not in used and len(chosen) < 5:
                    used.add((kill["class"], kill["strategy"]))
                    chosen.append(kill)
            chosen += [kill for kill in listed if kill not in chosen][:5 - len(chosen)]
            text += [f"{place}. [{kill['task']}]({link(kill)}) ({kill['source']}): `{kill['strategy']}` stops it by `{kill['rule']}` after step {kill['stopped_at']} of {kill['steps']}"
                     for place, kill in enumerate(chosen, 1)]
            text += ["", "More in [report.html](../report.html#kills)."]
        else:
            text += ["None: no plain stop of these rows ended a success."]
        text += ["", "## Argued in public", ""] + [f"- {thread}" for thread in host["threads"]]
        text += ["", "Look at your own sessions with `whenstop local`; replay your own graded runs with `whenstop compare RUNS --stacks preset:all`. "
                 "[The study](../README.md) says how every number is made.", ""]
        (folder / f"{host['file']}.md").write_text("\n".join(text))


def latex(rows):
    names = [name for name in STUDY["strategies"]["guards"] if any(row["strategy"] == name and row["judged"] != "0" for row in rows)]
    lines = ["% Written by render.py; needs the package booktabs.", "\\begin{tabular}{llrrrl}", "\\toprule",
             "guard & class, steps & killed & bound, \\% & net saved, \\% & verdict \\\\", "\\midrule"]
    for name in names:
        for row in rows:
            if row["part"] == "held" and row["strategy"] == name and row["class"] != "all work" and row["kill_bound_high"]:
                cells = [name, f"{row['class']}, {row['length']}", killed(row), interval(row, "kill"), interval(row, "net"), f"{row['harm']}, {row['use']}"]
                lines.append(" & ".join(cell.replace("%", "\\%").replace("_", "\\_").replace("–", "--") for cell in cells) + " \\\\")
    (HERE / "board.tex").write_text("\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""]))


STYLE = """body{font:15px/1.5 Helvetica,Arial,sans-serif;max-width:1280px;margin:2em auto;padding:0 1em;color:#1d2126}table{border-collapse:collapse;font-size:13px}
td,th{border-bottom:1px solid #e3e5e8;padding:3px 9px;text-align:left}td{white-space:nowrap}td:last-child{white-space:normal}tr.kills td:last-child,tr.useless td:last-child{color:#b3261e}tr.harmless td:last-child{color:#2a7f4f}
select{font-size:14px}details{margin:.4em 0}summary{cursor:pointer}img{max-width:100%}"""


def page(rows, found):
    shown = [row for row in rows if row["part"] == "held" and (row["kind"] != "rule" or row["strategy"].endswith(" steps")) and row["kill_bound_high"]]
    names = list(dict.fromkeys(row["strategy"] for row in shown))
    body = [f"<!doctype html><html lang=en><meta charset=utf-8><title>{STUDY['title']}</title><style>{STYLE}</style><h1>{STUDY['title']}</h1>",
            "<p>Every guard in every class of work on the held-out half. No rank: filter, and click a number of killed successes to read them where their authors published them.</p>",
            "<p>Guard <select id=g><option value=''>all</option>" + "".join(f"<option>{html.escape(name)}</option>" for name in names) + "</select> Class <select id=c><option value=''>all</option>" +
            "".join(f"<option>{kind}</option>" for kind in [*CLASSES, "all work"]) + "</select></p>",
            "<table><thead><tr>" + "".join(f"<th>{title}</th>" for title in HEAD) + "</tr></thead><tbody>"]
    for row in shown:
        anchor = re.sub(r"[^a-z0-9]+", "-", row["strategy"].lower())
        count = killed(row) if not found.get(row["strategy"]) or row["killed_low"] == "0" else f"<a href='#{anchor}'>{killed(row)}</a>"
        cells = [html.escape(row["strategy"]), f"{row['class']}, {row['length']}", count, interval(row, "kill"), percent(row["random_stop_kills"]), interval(row, "net"),
                 html.escape(verdict(row)) if row["kind"] == "guard" else "cap" if row["kind"] == "cap" else "plain budget"]
        body.append(f"<tr class='{row['harm']} {row['use']}' data-g='{html.escape(row['strategy'], True)}' data-c='{row['class']}'>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    body.append("</tbody></table><h2>Beside the guards</h2><p>By class, held-out half: a perfect stop, the best rule that is certified at 5 % kills, and LoopBrake's rule set on the open half.</p>"
                "<table><thead><tr>" + "".join(f"<th>{title}</th>" for title in ["class", "oracle saves, %", "best certified rule", "saves net, %", "LoopBrake's limit, steps", "kills, %", "saves net, %"]) +
                "</tr></thead><tbody class=beside>")
    brake = {row["class"]: row for row in table("loopbrake")}
    for row in sorted(table("h6"), key=lambda row: CLASSES.index(row["class"])):
        of = brake.get(row["class"], {})
        cells = [row["class"], percent(row["oracle"]), row["best_certified"], percent(row["certified_net"]), of.get("limit", "–"), percent(of.get("kill_mean")), percent(of.get("net_mean"))]
        body.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    body.append("</tbody></table><h2 id=kills>Killed successes</h2><p>Up to ten for each guard, class and length, drawn by hash; each link leads to the recording in its own repository.</p>")
    for name in names:
        if found.get(name):
            anchor = re.sub(r"[^a-z0-9]+", "-", name.lower())
            body.append(f"<details id='{anchor}'><summary>{html.escape(name)}: {len(found[name])} of its kills</summary><ul>")
            body += [f"<li>{kill['class']}, {'over 20' if kill['long'] == '1' else 'up to 20'}: <a href='{html.escape(link(kill), True)}'>{html.escape(kill['task'])}</a> ({kill['source']}), "
                     f"<code>{html.escape(kill['rule'])}</code> after step {kill['stopped_at']} of {kill['steps']}</li>" for kill in found[name]]
            body.append("</ul></details>")
    body.append("""<script>const g=document.getElementById('g'),c=document.getElementById('c');function f(){for(const r of document.querySelectorAll('tr[data-g]'))
r.hidden=(g.value&&r.dataset.g!==g.value)||(c.value&&r.dataset.c!==c.value)}g.onchange=c.onchange=f;function o(){const d=document.querySelector(location.hash||'#none');if(d&&d.tagName=='DETAILS')d.open=true}
addEventListener('hashchange',o);o()</script></html>
""")
    (HERE / "report.html").write_text("\n".join(body))


def fill(marks):
    """README.md is page.md with its marks filled in: {{name}} is a value or a table."""
    text = (HERE / "page.md").read_text()
    missing = set(re.findall(r"\{\{([^}]+)\}\}", text)) - set(marks)
    if missing:
        raise SystemExit(f"page.md names what render.py does not know: {sorted(missing)}")
    (HERE / "README.md").write_text(re.sub(r"\{\{([^}]+)\}\}", lambda match: str(marks[match[1]]), text))


def main():
    rows, found = table("board"), kills()
    held = [row for row in rows if row["part"] == "held" and row["kind"] == "guard"]
    heat(held, "kills-board", "Successes killed by shipped guards, held-out half", "kill", "harm")
    heat(held, "net-board", "Net saved by shipped guards, held-out half", "net", "use")
    work = [row for row in rows if row["part"] == "both" and row["kind"] == "guard" and row["class"] == "all work" and row["length"] == "over 20" and row["judged"] != "0"]
    forest(work, "kills-long", "Successes killed on work over 20 steps (both halves)", "kill_bound_low", "kill_bound_high", 0.01, (0, 1))
    forest(work, "net-long", "Net saved on work over 20 steps (both halves)", "net_bound_low", "net_bound_high", 0.02, (-0.8, 0.4))
    host_pages(rows, found)
    latex(rows)
    page(rows, found)
    fill(marks(rows, found))


if __name__ == "__main__":
    main()
