// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of the program by id, so that tests do not repeat their wording.
//
// A text that a test asks for has an id in a comment before its literal:
//
//   return tr(/*id:query-empty*/ "The query is empty");
//
// A test names the id: QCOMPARE(problem.text, worded("<query-empty>")). Ids are unique in the whole program.
// tests/ui/words/tst_text_ids.cpp checks them, and that no test repeats a sentence of the program.
// Prefer other ids where they exist: those of commands, metrics, settings, policies and events, the names of
// widgets, error codes, fields of JSON.
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

#include <string>

namespace spanscope::product_text {

/// A string literal of a source file. Adjacent literals are one.
struct Literal {
  QString id;    ///< of the comment before it; may be empty
  QString text;  ///< without escapes
  QString call;  ///< the function whose first argument it is: "row" for `row("name", …`
  int line = 0;  ///< of its first quote, from 1
};

/// All string literals of C++ code, without those of #include.
QList<Literal> literalsOf(const QString& code);

/// Paths of all .h and .cpp files below a folder of the source tree, relative to the tree.
QStringList sourceFiles(const QString& folder);

/// The content of a file of the source tree.
QString sourceText(const QString& path);

/// Replaces each "<id>" in a pattern by the text with this id, without spaces around it. "<id|a|b>" fills
/// "%1", "%n" or the first "{}" with "a", and "%2" or the second "{}" with "b". What is no id of a text stays
/// as it is.
QString worded(const QString& pattern);
QString worded(const char* pattern);  ///< UTF-8
std::string worded(const std::string& pattern);
QStringList worded(const QStringList& patterns);

/// Whether a text contains what a pattern says. Places that the pattern does not fill, and each "…", match
/// any text.
bool says(const QString& text, const QString& pattern);
bool says(const QString& text, const char* pattern);
bool says(const std::string& text, const QString& pattern);
bool says(const std::string& text, const char* pattern);
bool says(const std::string& text, const std::string& pattern);
/// The same, if nothing is before and after it.
bool matches(const QString& text, const QString& pattern);

}  // namespace spanscope::product_text
