// SPDX-License-Identifier: GPL-3.0-or-later
// A document's query in the forms that other programs take.
#pragma once

#include "engine/base/error.h"
#include "engine/export/target_remarks.h"
#include "engine/query/query.h"
#include "engine/spnl/request_text.h"
#include "engine/workbench/document/document.h"

#include <QString>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::ui {

enum class ExportTarget {
  Json,    ///< for IBM/spnl
  Yaml,    ///< the same
  Lisp,    ///< the same
  Curl,    ///< a line for the shell that sends the query to a span server
  Python,  ///< a program that does
  Chat,    ///< chat completions
  Tokens,  ///< the prompt ids that a span server is sent
};
inline constexpr std::array kExportTargets{
    ExportTarget::Json,   ExportTarget::Yaml, ExportTarget::Lisp,   ExportTarget::Curl,
    ExportTarget::Python, ExportTarget::Chat, ExportTarget::Tokens,
};

/// What is done to the query first: JSON has all stages, YAML and Lisp all but the last, others Read alone.
enum class ExportStage {
  Read,
  Simplified,
  Optimized,
  Lowered,  ///< each call that a span server's endpoint takes
};

struct QueryExportOptions {
  ExportTarget target = ExportTarget::Json;
  ExportStage stage = ExportStage::Read;
  bool oneLine = false;  ///< JSON without white space
  std::string model{};   ///< takes the place of every model that the query names; empty: they stay
  std::string endpoint = spnl::kDefaultEndpoint;
  bool stream = true;
  std::optional<std::uint64_t> seed{};  ///< of chat requests
  bool hasPlusMarker = true;            ///< tokens: those of a plus child are marked
  bool hasCrossMarker = true;           ///< tokens: those of a cross's last child are marked
  bool operator==(const QueryExportOptions&) const = default;
};

struct ExportRemark {
  exports::Effect effect = exports::Effect::Note;
  QString text;
  document::NodeId node = document::kNoNode;  ///< the first one it is about
  bool operator==(const ExportRemark&) const = default;
};

struct QueryExport {
  query::Node query;  ///< as it is written, parameters resolved where they could be
  std::string text;   ///< empty where nothing can be written, and for tokens, which take a tokenizer
  std::vector<ExportRemark> remarks;  ///< the gravest first
};

/// The export, or what is missing in the document.
std::variant<QueryExport, Error> exportQuery(const document::Document& document,
                                             const QueryExportOptions& options = {});

}  // namespace spanscope::ui
