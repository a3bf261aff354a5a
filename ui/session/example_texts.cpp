// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/example_texts.h"

#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/query/query.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/resource_paths.h"
#include "ui/document/document_file.h"

#include <QString>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <variant>

namespace spanscope::ui {
namespace {

using Texts = std::set<std::string>;

/// The texts of a query, by whether they are documents.
struct QueryTexts {
  Texts documents;
  Texts others;

  void add(const query::Node& node, bool isInPlus) {
    if (const auto* message = node.as<query::Message>();
        message != nullptr && message->role == query::Role::User) {
      (isInPlus ? documents : others).insert(message->text);
    }
    if (const query::SourceDocument* source = query::documentOf(node)) {
      if (const auto* text = std::get_if<std::string>(&source->content)) documents.insert(*text);
    }
    const auto* join = node.as<query::Join>();
    const bool isPlus = join != nullptr && join->kind == query::JoinKind::Plus;
    for (const query::ChildRef& child : query::childrenOf(node)) add(*child.node, isInPlus || isPlus);
  }
};

Texts readExamples() {
  Texts texts;
  std::error_code error;
  std::filesystem::path folder;
  try {
    folder = workbench::resourceDirectory() / "queries";
  } catch (const Failure&) {
    return texts;
  }
  std::filesystem::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    if (!entry->is_regular_file()) continue;
    const document::OpenedDocument opened = openDocument(QString::fromStdString(entry->path().string()));
    if (!opened.document) continue;
    QueryTexts found;
    for (const document::NodeId top : opened.document->tops())
      found.add(document::toTree(*opened.document, top), false);
    texts.merge(found.documents);
    texts.merge(found.others);
  }
  return texts;
}

const Texts& examples() {
  static const Texts texts = readExamples();
  return texts;
}

}  // namespace

bool hasExampleText(const std::string& queryJson) {
  const query::ParseResult read = query::parseJson(queryJson);
  if (!read.query || examples().empty()) return true;
  QueryTexts own;
  own.add(*read.query, false);
  const Texts& texts = own.documents.empty() ? own.others : own.documents;
  return texts.empty() || std::any_of(texts.begin(), texts.end(),
                                      [](const std::string& text) { return examples().contains(text); });
}

}  // namespace spanscope::ui
