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

void FragmentListModel::setContent(FragmentsContent content) {
  if (content == m_content) return;
  const bool sameRows = content.run == m_content.run && content.node == m_content.node &&
                        content.rows.size() == m_content.rows.size();
  if (sameRows) {
    // The rows are not reset, because marks change while a row is selected and the selection must stay.
    m_content = std::move(content);
    if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    return;
  }
  beginResetModel();
  m_content = std::move(content);
  endResetModel();
}

void FragmentListModel::setTheme(const Theme& theme) {
  if (theme == m_theme) return;
  m_theme = theme;
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int FragmentListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_content.rows.size());
}

int FragmentListModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QString FragmentListModel::stateText(const FragmentRow& row) {
  using document::FragmentMark;
  if (row.mark == FragmentMark::Pinned) return row.isChanged ? tr("pinned, next run") : tr("pinned");
  if (row.mark == FragmentMark::Dropped) return row.isChanged ? tr("dropped, next run") : tr("dropped");
  if (row.isChanged) return tr("by rank, next run");
  return row.inPrompt ? tr("in the prompt") : tr("left out");
}

Role FragmentListModel::stateInk(const FragmentRow& row) {
  using document::FragmentMark;
  if (row.mark == FragmentMark::Pinned) return Role::Accent;
  if (row.mark == FragmentMark::Dropped) return Role::Error;
  return row.inPrompt ? Role::HitInk : Role::TextThird;
}

QString FragmentListModel::text(const FragmentRow& row, int column) const {
  switch (column) {
    case State:
      return stateText(row);
    case Rank:
      return row.rank == 0 ? QStringLiteral("–") : QString::number(row.rank);
    case Score:
      return row.rank == 0 ? QStringLiteral("–") : scoreText(row.score);
    case Found:
      return row.found;
    case Source:
      return row.source;
    case Text:
      return row.text.simplified();
    default:
      return {};
  }
}

QVariant FragmentListModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const FragmentRow& row = m_content.rows[static_cast<std::size_t>(index.row())];
  const int column = index.column();
  const bool isNumber = column == Rank || column == Score || column == Found;
  switch (role) {
    case Qt::DisplayRole:
      return text(row, column);
    case Qt::ToolTipRole:
      return row.text;
    case Qt::AccessibleTextRole: {
      const QString name = headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
      return QStringLiteral("%1: %2").arg(name, text(row, column));
    }
    case Qt::FontRole:
      return isNumber ? m_theme.monoFont() : m_theme.interfaceFont();
    case Qt::ForegroundRole:
      if (column == State) return m_theme.color(stateInk(row));
      if (column == Text) return m_theme.color(row.inPrompt ? Role::Text : Role::TextSecond);
      return m_theme.color(Role::TextSecond);
    default:
      return {};
  }
}

QVariant FragmentListModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  const QStringList names{tr("State"), tr("Rank"), tr("Score"), tr("Text"), tr("Source"), tr("Found by")};
  if (role == Qt::DisplayRole && section >= 0 && section < names.size()) return names[section];
  return {};
}

}  // namespace spanscope::ui
