# Kernel code in sections, as lines to be embedded: "@NAME", and then the text of the section.
#
# A section begins at a line "//@ NAME". Comments that fill whole lines are left out, as are empty lines. A line that begins with a tab
# or a brace, or that follows a backslash, is joined to the line before it: readers of annotated text (annotator/source/scan.c) know
# no comments and no continued lines.
function flush()
{
	if (line != "")
		print line
	line = ""
}
/^\/\*/ { comment = 1 }
comment { comment = !/\*\/$/; next }
/^$/ { next }
/^\/\/@ / { flush(); print "@" $2; next }
{
	joined = continued || /^[\t{}]/
	continued = sub(/[ \t]*\\$/, "")
	sub(/^\t+/, "")
	if (!joined)
		flush()
	line = joined ? line " " $0 : $0
}
END { flush() }
