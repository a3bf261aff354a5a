// SPDX-License-Identifier: GPL-3.0-or-later
// A document's query in the forms that other programs take: JSON, YAML, Lisp, a curl line, a Python program.
//
// The server is vLLM with the span patch, as IBM/spnl drives it: POST /v1/query/execute?stream=…, content
// type text/plain. Its body is one `repeat` or `map` whose prompt holds messages and joins only, and its
// models are named without the provider "spnl/".
#pragma once

#include "engine/base/error.h"
#include "engine/query/query.h"
#include "ui/document/document.h"

#include <QString>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::ui {

inline constexpr char kDefaultEndpoint[] = "http://localhost:8000/v1/query/execute";

struct QueryExportOptions {
  std::string endpoint = kDefaultEndpoint;
  std::string model;  ///< takes the place of every model that the query names; empty: they stay
  bool stream = true;
  bool operator==(const QueryExportOptions&) const = default;
};

enum class RemarkKind {
  Refused,  ///< the target will not take it
  Ignored,  ///< the target takes it, but does something else or nothing
  Note,     ///< good to know
};

/// Whom a remark concerns.
enum class RemarkScope {
  Everything,  ///< the query in any form
  Yaml,
  Lisp,
  Server,  ///< the curl line and the Python program
};

struct ExportRemark {
  RemarkKind kind = RemarkKind::Note;
  RemarkScope scope = RemarkScope::Everything;
  QString text;
  document::NodeId node = document::kNoNode;  ///< the first one it is about
  bool operator==(const ExportRemark&) const = default;
};

struct QueryExport {
  query::Node query;      ///< parameters resolved where they could be
  std::string canonical;  ///< JSON on one line, as IBM/spnl writes it
  std::string pretty;     ///< JSON on indented lines
  std::string yaml;
  std::string lisp;
  std::string body;                   ///< what curl and Python send
  std::string curl;                   ///< for a POSIX shell, ends with a line break
  std::string python;                 ///< with the package requests, ends with a line break
  std::vector<ExportRemark> remarks;  ///< the gravest first
};

/// The export, or what is missing in the document.
std::variant<QueryExport, Error> exportQuery(const document::Document& document,
                                             const QueryExportOptions& options = {});

/// The request for a query: the generate, repeat or map at its root, models without "spnl/", a single
/// generate as a repeat of one. Another root stays as it is (the server refuses it).
query::Node requestFor(const query::Node& query);

/// One word of a POSIX shell that is the text, byte for byte. The text holds no NUL (a shell cannot pass
/// one).
std::string shellQuoted(std::string_view text);
/// A Python 3 string literal of the text, which is UTF-8.
std::string pythonLiteral(std::string_view text);

/// The longest body that stands in the command line itself; Linux refuses words of more than 128 KiB, so a
/// longer one comes from a here-document.
inline constexpr std::size_t kMaxCurlWord = 100'000;

std::string curlLine(std::string_view body, std::string_view endpoint, bool stream);
std::string pythonProgram(std::string_view body, std::string_view endpoint, bool stream);

}  // namespace spanscope::ui
