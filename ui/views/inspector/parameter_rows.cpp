// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/parameter_rows.h"

#include "engine/workbench/document/edits.h"
#include "ui/words/tr.h"

#include <map>
#include <set>
#include <utility>

namespace spanscope::ui {
namespace {

using query::ParameterKind;

ParameterRow rowOf(const document::Document& document, const std::string& name) {
  ParameterRow row;
  row.name = name;
  const auto value = document.parameters.find(name);
  if (value != document.parameters.end()) row.value = value->second;
  const query::ParameterDeclaration* declared = document::declarationOf(document, name);
  if (declared != nullptr) row.declaration = *declared;
  row.declaration.name = name;
  return row;
}

}  // namespace

ParameterKind ParameterRow::kind() const {
  return declaration.kind ? query::narrowerKind(placesKind, *declaration.kind) : placesKind;
}

std::vector<ParameterRow> parameterRows(const document::Document& document, document::NodeId node) {
  std::vector<ParameterRow> rows;
  std::map<std::string, std::size_t> places;
  const auto take = [&](document::NodeId id) {
    for (const query::ParameterUse& use : query::findParameters(document.at(id).own)) {
      const auto [place, isNew] = places.emplace(use.name, rows.size());
      if (isNew) rows.push_back(rowOf(document, use.name));
      ParameterRow& row = rows[place->second];
      row.placesKind = query::narrowerKind(row.placesKind, use.kind);
    }
  };
  if (node != document::kNoNode) {
    take(node);
    if (rows.empty()) return rows;
  } else {
    for (const document::NodeId top : document.tops()) {
      for (const document::NodeId id : document.subtree(top)) take(id);
    }
    for (const query::ParameterDeclaration& declaration : document.declarations) {
      if (places.emplace(declaration.name, rows.size()).second)
        rows.push_back(rowOf(document, declaration.name));
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

QString withoutValueText(const ParameterRow& row) {
  const std::optional<std::string>& given = row.declaration.defaultValue;
  if (given) return tr("default: %1").arg(QString::fromStdString(*given));
  return row.placesKind == ParameterKind::Text ? tr("stays as written") : tr("needs a value");
}

std::vector<ParameterKind> kindChoices(const ParameterRow& row) {
  std::vector<ParameterKind> choices;
  for (const ParameterKind kind : query::parameterKinds()) {
    if (query::narrowerKind(row.placesKind, kind) == kind) choices.push_back(kind);
  }
  return choices;
}

QString kindLabel(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::Text:
      return tr("Text");
    case ParameterKind::Temperature:
      return tr("Number");
    case ParameterKind::MaxTokens:
      return tr("Whole number");
    case ParameterKind::Count:
      return tr("Whole number, 0 to 255");
  }
  return {};
}

}  // namespace spanscope::ui
