// SPDX-License-Identifier: GPL-3.0-or-later
// Gives a query its input from outside: the texts of files, and the answers of the user. Open this file to
// provide files or answers in a new client.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query.h"

#include <string>
#include <variant>
#include <vector>

namespace spanscope::query {

/// The reason why something was not provided, as the parts of a Diagnostic.
struct NotGiven {
  std::string found;     ///< e.g. "a file of 20000000 bytes"
  std::string expected;  ///< e.g. "at most 16777216"
  std::string hint;      ///< advice to the user; may be empty
};

/// Paths of files, ordered by their bytes. readFile() accepts each of them. `leftOut` has a remark for each
/// file that was left out.
struct FileList {
  std::vector<std::string> paths;
  std::vector<NotGiven> leftOut;
};

class Surroundings {
 public:
  virtual ~Surroundings() = default;

  /// Returns the bytes of a file. The implementation knows the base of relative paths.
  virtual std::variant<std::string, NotGiven> readFile(const std::string& path) = 0;
  /// Returns the files that a path means. A path is a file, a folder with all folders below it, or a pattern
  /// (file_access.h). The list has at least one file.
  virtual std::variant<FileList, NotGiven> listFiles(const std::string& path);
  /// Returns the answer to a question. Equal questions get equal answers.
  virtual std::variant<std::string, NotGiven> ask(const std::string& prompt) = 0;
};

/// Returns the bytes of a file as text. The file must be UTF-8, or UTF-16 or UTF-32 that utf8OfWide() knows.
/// A byte order mark is removed. Zero bytes and unpaired UTF-16 surrogates are errors.
std::variant<std::string, NotGiven> readTextFile(Surroundings& surroundings, const std::string& path);

/// Returns the text that replaces sugar (isSugar() in node_parts.h). The result is the answer to a question
/// or the text of a file.
std::variant<std::string, NotGiven> textOfSugar(const Node& sugar, Surroundings& surroundings);

/// Replaces every `ask` and `file` by a user message with the answer or the text. Returns an error for each
/// text that was not provided. The diagnostics have the path of the node and no position. The function does
/// not search answers and files for parameters.
std::variant<Node, std::vector<Diagnostic>> resolveSugar(const Node& node, Surroundings& surroundings);

}  // namespace spanscope::query
