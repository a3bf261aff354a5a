// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/fragments/fragments_content.h"

#include "engine/query/node_parts.h"
#include "engine/trace/event_fields.h"
#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <algorithm>
#include <string_view>
#include <utility>

namespace spanscope::ui {
namespace {

QString foundBy(const trace::FragmentInfo& fragment) {
  QStringList parts;
  if (fragment.lexicalRank > 0)
    parts << tr("words %1 (%2)").arg(fragment.lexicalRank).arg(scoreText(fragment.lexicalScore));
  if (fragment.embeddingRank > 0)
    parts << tr("vectors %1 (%2)").arg(fragment.embeddingRank).arg(scoreText(fragment.embeddingScore));
  return parts.join(QStringLiteral(" · "));
}

QString sourceOf(const trace::FragmentInfo& fragment) {
  const QString name = QString::fromStdString(fragment.source);
  return fragment.place.empty() ? name
                                : QStringLiteral("%1, %2").arg(name, QString::fromStdString(fragment.place));
}

/// A retrieval: the run, and the augment's entry in it.
struct Found {
  RunId run = 0;
  document::NodeId node = document::kNoNode;
  const trace::FragmentsRetrieved* retrieved = nullptr;
};

/// The retrieval of `wanted`, or of any augment, in the last run that has one.
std::optional<Found> lastOf(const ViewInput& input, std::optional<document::NodeId> wanted) {
  std::optional<Found> last;
  for (const auto& [id, run] : input.state().progress().runs) {
    if (!input.paths.contains(id)) continue;
    for (const auto& [path, retrieved] : run.retrieved) {
      const document::NodeId node = input.nodeOf(id, path);
      if (wanted && node != *wanted) continue;
      last = Found{.run = id, .node = node, .retrieved = &*retrieved};
      break;
    }
  }
  return last;
}

bool isAugment(const document::Document& document, document::NodeId id) {
  const document::DocumentNode* node = document.find(id);
  return node != nullptr && query::documentOf(node->own) != nullptr;
}

}  // namespace

FragmentsContent fragmentsContent(const ViewInput& input) {
  FragmentsContent content;
  const document::NodeId selected = input.selection.currentNode();
  std::optional<Found> found;
  if (selected != document::kNoNode) found = lastOf(input, selected);
  if (!found && isAugment(*input.document, selected)) {
    content.isAsked = true;
    return content;
  }
  if (!found) found = lastOf(input, std::nullopt);
  if (!found) return content;

  content.node = found->node;
  content.run = found->run;
  content.question = QString::fromStdString(found->retrieved->question);
  const std::string_view ranking = trace::enumName(found->retrieved->ranking);
  content.ranking = QString::fromLatin1(ranking.data(), static_cast<qsizetype>(ranking.size()));
  content.documents = found->retrieved->documents;
  content.canMark = isAugment(*input.document, found->node);
  for (const trace::FragmentInfo& fragment : found->retrieved->fragments) {
    FragmentRow& row = content.rows.emplace_back();
    row.hash = QString::fromStdString(fragment.hash);
    row.rank = fragment.rank;
    row.score = fragment.score;
    row.found = foundBy(fragment);
    row.source = sourceOf(fragment);
    row.text = QString::fromStdString(fragment.text);
    row.isSummary = fragment.level > 0;
    row.inPrompt = fragment.inPrompt;
    std::optional<document::FragmentMark> before;
    if (fragment.pinned)
      before = document::FragmentMark::Pinned;
    else if (fragment.dropped)
      before = document::FragmentMark::Dropped;
    row.mark = before;
    if (!content.canMark) continue;
    const auto& marks = input.document->at(found->node).fragments;
    const auto mark = marks.find(fragment.hash);
    row.mark = mark == marks.end() ? std::nullopt : std::optional(mark->second);
    row.isChanged = row.mark != before;
  }
  return content;
}

QString fragmentsSummary(const FragmentsContent& content) {
  if (content.node == document::kNoNode) return {};
  const auto inPrompt = std::count_if(content.rows.begin(), content.rows.end(),
                                      [](const FragmentRow& row) { return row.inPrompt; });
  const QString documents =
      content.documents == 1 ? tr("1 document") : tr("%1 documents").arg(content.documents);
  return tr("%1 in the prompt · %2 · %3").arg(inPrompt).arg(documents, content.ranking);
}

}  // namespace spanscope::ui
