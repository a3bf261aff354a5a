// SPDX-License-Identifier: GPL-3.0-or-later
// What a form of a Lisp text evaluates to.
#pragma once

#include "engine/query/lisp/lisp_form.h"
#include "engine/query/query.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::query {

struct LispValue;

/// A query, and where each of its nodes was made.
struct LispQuery {
  Node node;
  std::vector<SourceRange> ranges;  ///< in preorder
  std::size_t containers = 1;       ///< that stand within each other where it is written as JSON
  std::size_t nodes = 1;            ///< inputs of a map included
  std::size_t bytes = 0;            ///< of all its texts
};

struct LispNumber {
  std::string text;  ///< as JSON writes it
};

/// A node that stands for the text of a file or the answer to a question. The file is read, the question
/// asked, only where a text belongs.
struct LispSugar {
  Node node;
};

struct LispBytes {
  std::vector<std::uint8_t> bytes;
};

/// A name and its value; the names around it.
struct LispScope {
  std::string name;
  std::shared_ptr<const LispValue> value;
  std::shared_ptr<const LispScope> outer;
};

struct LispLambda {
  const LispForm* form = nullptr;  ///< (lambda (name…) body…)
  std::shared_ptr<const LispScope> scope;
};

struct LispList {
  std::vector<LispValue> elements;
};

struct LispNone {};

struct LispValue {
  std::variant<LispNone, LispQuery, std::string, LispNumber, LispSugar, LispBytes, SourceDocument, LispLambda,
               LispList>
      content;
  SourceRange range;  ///< of the form it comes from

  template <class T>
  const T* as() const {
    return std::get_if<T>(&content);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&content);
  }
};

}  // namespace spanscope::query
