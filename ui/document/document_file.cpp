// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/document_file.h"

#include "engine/query/json.h"
#include "ui/document/document_query.h"

#include <QCoreApplication>
#include <QFile>
#include <QSaveFile>

#include <algorithm>

namespace spanscope::document {
namespace {

QString tr(const char* text, int n = -1) {
  return QCoreApplication::translate("document", text, nullptr, n);
}

OpenedDocument refused(std::string found, std::string expected) {
  OpenedDocument opened;
  opened.diagnostics.push_back({.severity = query::Severity::Error,
                                .pointer = {},
                                .position = {},
                                .offset = 0,
                                .found = std::move(found),
                                .expected = std::move(expected),
                                .hint = {}});
  return opened;
}

/// The query alone, an empty seq where an input is missing.
std::string queryText(const Document& document) {
  if (document.root() == kNoNode) {
    return query::writePretty({query::Join{.kind = query::JoinKind::Seq, .children = {}}});
  }
  return query::writePretty(toTree(document, document.root()));
}

}  // namespace

OpenedDocument openDocument(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) {
    return refused(file.errorString().toStdString(), "a file that can be read");
  }
  constexpr auto kMostBytes = static_cast<qint64>(query::ParseLimits{}.maxBytes);
  // One byte more than is allowed is enough to tell, also of a pipe or a device that never ends.
  const QByteArray bytes = file.read(kMostBytes + 1);
  if (file.error() != QFileDevice::NoError) {
    return refused(file.errorString().toStdString(), "a file that can be read");
  }
  if (bytes.size() > kMostBytes) {
    return refused("more than " + std::to_string(kMostBytes) + " bytes",
                   "a file of at most " + std::to_string(kMostBytes) + " bytes");
  }
  return readDocument({bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

std::optional<Error> saveDocument(const QString& path, const Document& document) {
  const std::string text = isQueryPath(path) ? queryText(document) : writeDocument(document);
  // What could not be opened again must not take the place of what can.
  for (const query::Diagnostic& diagnostic : readDocument(text).diagnostics) {
    if (diagnostic.severity != query::Severity::Error) continue;
    return Error{path.toStdString(), diagnostic.pointer, diagnostic.found, diagnostic.expected};
  }
  QSaveFile file(path);
  const auto size = static_cast<qint64>(text.size());
  if (!file.open(QIODevice::WriteOnly) || file.write(text.data(), size) != size || !file.commit()) {
    return Error{path.toStdString(), {}, file.errorString().toStdString(), "a file that can be written"};
  }
  return std::nullopt;
}

bool isQueryPath(const QString& path) {
  return path.endsWith(QLatin1String(".json"), Qt::CaseInsensitive);
}

QStringList lostWhenSavedAsQuery(const Document& document) {
  QStringList lost;
  const std::vector<NodeId> ids = document.ids();
  const auto any = [&](auto predicate) {
    return std::any_of(ids.begin(), ids.end(), [&](NodeId id) { return predicate(document.at(id)); });
  };
  const std::size_t tops = document.tops().size();
  if (tops > 1)
    lost += tops == 2 ? tr("a tree that is not part of the query")
                      : tr("%1 trees that are not part of the query").arg(tops - 1);
  if (any([](const DocumentNode& node) {
        return std::find(node.children.begin(), node.children.end(), kNoNode) != node.children.end();
      })) {
    lost += tr("which inputs are missing: an empty seq is written for them");
  }
  if (any([](const DocumentNode& node) { return !node.name.empty(); })) lost += tr("names of nodes");
  if (any([](const DocumentNode& node) { return node.position.has_value(); })) lost += tr("places of nodes");
  if (any([](const DocumentNode& node) { return node.collapsed; })) lost += tr("which nodes are collapsed");
  if (any([](const DocumentNode& node) { return node.muted; })) lost += tr("which nodes are muted");
  if (any([](const DocumentNode& node) { return node.frozen.has_value(); })) lost += tr("frozen answers");
  if (!document.frames.empty()) lost += tr("frames");
  if (!document.notes.empty()) lost += tr("notes");
  if (!document.parameters.empty()) lost += tr("values of parameters");
  if (document.settings != RunSettings{}) lost += tr("model and cache settings");
  return lost;
}

}  // namespace spanscope::document
