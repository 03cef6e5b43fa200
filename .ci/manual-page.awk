# Makes a page for man of what the plugin of the argument parser writes: awk -v name=bgtask-submit -f FILE PAGE
# The plugin names a page 'bgtask submit', which whatis can't find, leaves lines of text empty, which mdoc
# forbids, and fills the lines of examples as if they were sentences.
BEGIN { words = name; if (words !~ /^bgtask-task$/) sub(/-/, " ", words); gsub(/-/, " ", words) }
/^\.Dt / { print ".Dt " toupper(name) " " $NF; next }
/^\.Sh / { section = $2 }
/^\.Nm/ && section == "NAME" { print ".Nm " name; next }
/^\.Nm/ && section == "SYNOPSIS" { print ".Nm \"" words "\""; next }
# A line that begins with spaces is an example or a row of a list: it stays as it is.
/^ / {
    if (!literal) { print ".Bd -literal"; literal = 1 }
    gsub(/\\/, "\\e")
    print
    next
}
literal { print ".Ed"; literal = 0 }
/^$/ { if (last != ".Pp" && last !~ /^\.Sh/) print ".Pp"; last = ".Pp"; next }
# A line of text that begins as a macro does.
/^'/ || (/^\./ && !/^\.(\\"|[A-Z])/) { $0 = "\\&" $0 }
{ print; last = $0 }
END { if (literal) print ".Ed" }
