// SPDX-License-Identifier: GPL-3.0-or-later
// A document's query in the forms that other programs take.
#pragma once

#include "engine/base/error.h"
#include "engine/export/export_target.h"
#include "engine/query/query.h"
#include "engine/workbench/document/document.h"

#include <QString>

#include <string>
#include <variant>
#include <vector>

namespace spanscope::ui {

struct QueryExportOptions {
  const exports::ExportTarget* target = exports::findExportTarget("spnl");
  std::string model{};  ///< takes the place of every model that the query names; empty: they stay
  exports::ExportSettings settings{};
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
