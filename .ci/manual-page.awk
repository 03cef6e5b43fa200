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
# Files have a hyphen in their names, and other pages belong to the list, too.
/^\.Xr bgtask\./ { sub(/bgtask\./, "bgtask-"); gsub(/\./, "-", $2) }
/^\.Sh "?SEE/ && name == "bgtask" { print; print ".Xr bgtaskd 8 ,"; print ".Xr bgtask-manifest 5 ,"; print ".Xr bgtask-command 5 ,"; print ".Xr bgtask-call 5 ,"; print ".Xr bgtask.conf 5 ,"; next }
# The host has no subcommands; the page lists one for 'help'.
/^\.It Ar subcommands\.\.\.$/ || (/^\.Ar subcommand$/ && name == "bgtaskd") { next }
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
