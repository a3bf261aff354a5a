// SPDX-License-Identifier: GPL-3.0-or-later
// What a query needs from outside: texts of files, and answers of the person who runs it.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query.h"

#include <string>
#include <variant>
#include <vector>

namespace spanscope::query {

/// Why something was not provided, as the parts of a Diagnostic.
struct NotGiven {
  std::string found;     ///< e.g. "a file of 20000000 bytes"
  std::string expected;  ///< e.g. "at most 16777216"
  std::string hint;      ///< may be empty
};

/// Paths of files, which readFile() accepts, ordered by their bytes; and remarks about files that were left
/// out.
struct FileList {
  std::vector<std::string> paths;
  std::vector<NotGiven> leftOut;
};

class Surroundings {
 public:
  virtual ~Surroundings() = default;

  /// The bytes of a file. The implementation knows the base of relative paths.
  virtual std::variant<std::string, NotGiven> readFile(const std::string& path) = 0;
  /// The files that a path stands for: the file itself, all files in a folder and in the folders below it, or
  /// the files that fit a pattern (file_access.h). At least one file.
  virtual std::variant<FileList, NotGiven> listFiles(const std::string& path);
  /// The answer to a question. Equal questions get equal answers.
  virtual std::variant<std::string, NotGiven> ask(const std::string& prompt) = 0;
};

/// The bytes of a file as text. It must be UTF-8, or UTF-16 or UTF-32 that utf8OfWide() knows. A byte order
/// mark is removed. Refuses zero bytes, and UTF-16 with half of a character.
std::variant<std::string, NotGiven> readTextFile(Surroundings& surroundings, const std::string& path);

/// The text that sugar stands for (isSugar() in node_parts.h): the answer to a question, or the text of a
/// file.
std::variant<std::string, NotGiven> textOfSugar(const Node& sugar, Surroundings& surroundings);

/// The query in which every `ask` and `file` is replaced by a user message with the answer or the text; or an
/// error for everything that was not provided. The diagnostics have the path of the node and no position.
/// Answers and files are not searched for parameters.
std::variant<Node, std::vector<Diagnostic>> resolveSugar(const Node& node, Surroundings& surroundings);

}  // namespace spanscope::query
