# Makes a list of each table of keys in a document, for man: awk -f FILE DOCUMENT
# In the 80 columns of a terminal, a table leaves a sentence three words a line. A list gives it the whole width,
# with the further columns before it, such as 'default: 5 s'.
/^\| key \|/ { heading = split($0, titles, / \| /); next_is_rule = 1; sub(/^\| /, "", titles[1]); sub(/ \|$/, "", titles[heading]); next }
next_is_rule { next_is_rule = 0; next }
heading && /^\|/ {
    sub(/^\| /, ""); sub(/ \|$/, "")
    n = split($0, cells, / \| /)
    facts = ""; text = ""
    for (i = 2; i <= n; i++) {
        if (titles[i] ~ /^meaning/) text = cells[i]
        else if (cells[i] != "–" && cells[i] != "") facts = facts (facts == "" ? "" : "; ") titles[i] ": " cells[i]
    }
    if (facts != "") facts = "[" facts "] "
    gsub(/\\\|/, "|", text); gsub(/\\\|/, "|", facts)
    print cells[1] "\n\n: " facts text "\n"
    next
}
{ heading = 0; print }
