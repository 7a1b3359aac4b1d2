// Package fulltext takes texts apart into words and scores how well a text matches keywords.
//
// Words are runs of letters and digits, regardless of case; nothing is stemmed. A keyword of several words is a phrase: its
// words must follow each other. The length of a text, for scores, counts its words without the stop words of English.
//
// Scores are those of BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009), by the
// statistics that the caller brings. The service does not publish its constants; those here, 1.2 and 0.75, are the customary
// ones, and give the service's order on the texts whose order is known, as do all from 0.9 to 2 and from 0.4 to 0.75.
package fulltext
