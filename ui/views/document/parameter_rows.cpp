// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/document/parameter_rows.h"

#include "ui/words/tr.h"

#include <map>
#include <set>
#include <utility>

namespace spanscope::ui {
namespace {

using query::ParameterKind;

/// The more, the fewer texts are a value.
int strictness(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::Text:
      return 0;
    case ParameterKind::Temperature:
      return 1;
    case ParameterKind::MaxTokens:
      return 2;
    case ParameterKind::Count:
      return 3;
  }
  return 0;
}

}  // namespace

std::vector<ParameterRow> parameterRows(const document::Document& document, document::NodeId node) {
  std::vector<ParameterRow> rows;
  std::map<std::string, std::size_t> places;
  const auto take = [&](document::NodeId id) {
    for (const query::ParameterUse& use : query::findParameters(document.at(id).own)) {
      const auto [place, isNew] = places.emplace(use.name, rows.size());
      if (isNew) {
        const auto value = document.parameters.find(use.name);
        ParameterRow row;
        row.name = use.name;
        rows.push_back(std::move(row));
        if (value != document.parameters.end()) rows.back().value = value->second;
      }
      ParameterRow& row = rows[place->second];
      if (strictness(use.kind) > strictness(row.kind)) row.kind = use.kind;
    }
  };
  if (node != document::kNoNode) {
    take(node);
    if (rows.empty()) return rows;
  } else {
    for (const document::NodeId top : document.tops()) {
      for (const document::NodeId id : document.subtree(top)) take(id);
    }
  }
  for (const document::NodeId id : document.ids()) {
    std::set<std::string> seen;
    for (const query::ParameterUse& use : query::findParameters(document.at(id).own)) {
      const auto place = places.find(use.name);
      if (place != places.end() && seen.insert(use.name).second) ++rows[place->second].nodes;
    }
  }
  return rows;
}

QString parameterReason(ParameterKind kind, const std::string& text) {
  if (query::isParameterValue(kind, text)) return {};
  return tr("Expected: %1").arg(QString::fromStdString(query::parameterValueForm(kind)));
}

QString withoutValueText(ParameterKind kind) {
  return kind == ParameterKind::Text ? tr("stays as written") : tr("needs a value");
}

}  // namespace spanscope::ui
