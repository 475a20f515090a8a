package apsis

import (
	"regexp"
	"strings"
)

// The library's messages name things of C: set_stream: ..., APSIS_CITY_BLOCK, apsis_metric, options: max_distance, NULL.
var (
	names   = regexp.MustCompile(`^[a-z_]+|(options|slab|slabs\[\d+\]|joined): [a-z_]+|\b[A-Za-z]+(_[A-Za-z0-9]+)+`)
	strides = regexp.MustCompile(`stride\[\d\] is -?\d+`)
	nothing = strings.NewReplacer("data is NULL", "data is nil", "stream is not NULL", "stream is not nil",
		"Seeds is NULL", "Seeds is nil", "Parts is NULL", "Parts is nil", "NULL", "None")
)

// inGo is a message with Go's names for the same things: SetStream: ..., CityBlock, Metric, options: MaxDistance, None.
func inGo(message string) string {
	message = names.ReplaceAllStringFunc(message, func(name string) string {
		if structure, field, found := strings.Cut(name, ": "); found {
			return structure + ": " + camel(field)
		}
		return camel(name)
	})
	message = strides.ReplaceAllString(message, "$0 bytes") // those of View count pixels
	return nothing.Replace(message)
}

// camel is a name of the library as Go writes it.
func camel(name string) string {
	if name == "APSIS_LABELS" {
		return "LabelImage"
	}
	words := strings.Split(strings.ToLower(name), "_")
	if words[0] == "apsis" {
		words = words[1:]
	}
	for i, word := range words {
		switch word {
		case "cpu":
			words[i] = "CPU"
		case "create":
			words[i] = "New"
		default:
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}
