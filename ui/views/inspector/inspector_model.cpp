// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/inspector_model.h"

#include "ui/document/problems.h"
#include "ui/operators/operator_table.h"
#include "ui/words/tr.h"

#include <utility>

namespace spanscope::ui {
namespace {

QString placeOf(const document::Document& document, document::NodeId node) {
  const document::NodeId parent = document.at(node).parent;
  if (parent == document::kNoNode) {
    return document.root() == node ? tr("none: this is the query") : tr("none: not part of the query");
  }
  const document::DocumentNode& above = document.at(parent);
  const QString label = document::nodeLabel(above);
  const std::size_t place = document.indexInParent(node);
  if (document::arityOf(above.own).most == 1) return label;
  if (above.own.as<query::Zip>() != nullptr)
    return place == 0 ? tr("%1, first input").arg(label) : tr("%1, second input").arg(label);
  return tr("%1, place %2 of %3").arg(label).arg(place + 1).arg(above.children.size());
}

}  // namespace

InspectorFacts inspectorFacts(const document::Document& document, document::NodeId node) {
  const query::Node& own = document.at(node).own;
  return {.title = document::nodeLabel(document.at(node)),
          .place = placeOf(document, node),
          .help = operatorInfo(query::operatorName(own)).help};
}

QString tokenText(std::int64_t tokens, std::int32_t blockSize) {
  const QString count = tokens == 1 ? tr("1 token") : tr("%1 tokens").arg(tokens);
  if (tokens <= 0 || blockSize <= 0) return count;
  const std::int64_t blocks = (tokens + blockSize - 1) / blockSize;
  const std::int64_t last = tokens - (blocks - 1) * blockSize;
  if (blocks == 1) return tr("%1 · 1 block, holds %2 of %3").arg(count).arg(last).arg(blockSize);
  if (last == blockSize) return tr("%1 · %2 blocks, all full").arg(count).arg(blocks);
  return tr("%1 · %2 blocks, last holds %3 of %4").arg(count).arg(blocks).arg(last).arg(blockSize);
}

std::optional<std::string> textOfNode(const query::Node& own) {
  if (const auto* message = own.as<query::Message>()) return message->text;
  if (const auto* print = own.as<query::Print>()) return print->text;
  if (const auto* ask = own.as<query::Ask>()) return ask->prompt;
  return std::nullopt;
}

void setTextOfNode(query::Node& own, std::string text) {
  if (auto* message = own.as<query::Message>())
    message->text = std::move(text);
  else if (auto* print = own.as<query::Print>())
    print->text = std::move(text);
  else if (auto* ask = own.as<query::Ask>())
    ask->prompt = std::move(text);
}

QString textLabel(const query::Node& own) {
  if (own.as<query::Print>() != nullptr) return tr("Message to the console");
  if (own.as<query::Ask>() != nullptr) return tr("Question");
  return tr("Text");
}

const query::GenerateSettings* settingsOfNode(const query::Node& own) {
  if (const auto* generate = own.as<query::Generate>()) return &generate->settings;
  if (const auto* repeat = own.as<query::Repeat>()) return &repeat->generate.settings;
  if (const auto* map = own.as<query::Map>()) return &map->settings;
  return nullptr;
}

query::GenerateSettings* settingsOfNode(query::Node& own) {
  return const_cast<query::GenerateSettings*>(settingsOfNode(std::as_const(own)));
}

}  // namespace spanscope::ui
