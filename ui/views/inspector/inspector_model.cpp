// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/inspector_model.h"

#include "engine/query/node_parts.h"
#include "ui/document/problems.h"
#include "ui/operators/operator_table.h"
#include "ui/words/tr.h"

#include <QDir>

namespace spanscope::ui {
namespace {

QString placeOf(const document::Document& document, document::NodeId node) {
  const document::NodeId parent = document.at(node).parent;
  if (parent == document::kNoNode) {
    return document.root() == node ? tr(/*id:none-query*/ "none: this node is the root")
                                   : tr("none: not part of the query");
  }
  const document::DocumentNode& above = document.at(parent);
  QString label = nodeLabel(above);
  const std::size_t place = document.indexInParent(node);
  if (document::arityOf(above.own).most == 1) return label;
  if (document::arityOf(above.own).most != document::Arity::kMany)
    return place == 0 ? tr("%1, first input").arg(label) : tr("%1, second input").arg(label);
  return tr("%1, place %2 of %3").arg(label).arg(place + 1).arg(above.children.size());
}

}  // namespace

InspectorFacts inspectorFacts(const document::Document& document, document::NodeId node) {
  const query::Node& own = document.at(node).own;
  return {.title = nodeLabel(document.at(node)),
          .place = placeOf(document, node),
          .help = operatorInfo(query::operatorName(own)).help};
}

QString tokenText(std::int64_t tokens) {
  return tokens == 1 ? tr("1 token of text") : tr("%1 tokens of text").arg(tokens);
}

bool hasTextSection(const query::Node& own) {
  return query::textOf(own) != nullptr && !hasPath(own);
}

bool hasPath(const query::Node& own) {
  return hasPath(query::operatorName(own));
}

QString pathInFolder(const QString& file, const QString& folder) {
  if (folder.isEmpty()) return file;
  const QString relative = QDir(folder).relativeFilePath(file);
  return relative.startsWith(QLatin1String("..")) || QDir::isAbsolutePath(relative) ? file : relative;
}

QString textLabel(const query::Node& own) {
  const QString label = operatorInfo(query::operatorName(own)).textLabel;
  return label.isEmpty() ? tr("Text") : label;
}

}  // namespace spanscope::ui
