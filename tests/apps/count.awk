# count.awk - how many objects the top-level array `key` of a gpusim report in JSON has; several reports add up.
{
	n = length($0)
	for (i = 1; i <= n; i++) {
		c = substr($0, i, 1)
		if (quoted) {
			if (c == "\\")
				i++
			else if (c == "\"")
				quoted = 0
			else
				text = text c
		} else if (c == "\"") {
			quoted = 1
			text = ""
		} else if (c == ":") {
			if (depth == 1)
				name = text
		} else if (c == "{" || c == "[") {
			found += depth == 2 && name == key && c == "{"
			depth++
		} else if (c == "}" || c == "]") {
			depth--
		}
	}
}
END { print found + 0 }
