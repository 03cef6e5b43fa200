# Makes a page for man of what the plugin of the argument parser writes:
#   awk -v name=bgtask-submit -v exits=TEXT -f FILE PAGE
# The plugin names a page 'bgtask submit', which whatis can't find, leaves lines of text empty, which mdoc
# forbids, fills the lines of examples as if they were sentences, and says of each program that it exits with 0
# or something else. 'exits' is what the program's help says of that.
BEGIN { words = name; if (words !~ /^bgtask-task$/) sub(/-/, " ", words); gsub(/-/, " ", words) }
/^\.Dt / { print ".Dt " toupper(name) " " $NF; next }
/^\.Sh / { section = $2 }
/^\.Nm/ && section == "NAME" { print ".Nm " name; next }
/^\.Nm/ && section == "SYNOPSIS" { print ".Nm \"" words "\""; next }
/^\.Ex -std/ { n = split(exits, codes, /; /); for (i = 1; i <= n; i++) { if (i > 1) print ".br"; print codes[i] }; next }
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
