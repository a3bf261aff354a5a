// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/palette_model.h"

#include "ui/commands/fuzzy_match.h"

#include <QKeySequence>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

/// What was found in the command's own text goes before what needed its category, and that before what only
/// its help says.
constexpr int kInText = 200;
constexpr int kWithCategory = 100;

bool hasWords(const QString& text, const QString& wanted) {
  const QStringList words = wanted.split(QLatin1Char(' '));
  return std::all_of(words.begin(), words.end(),
                     [&text](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

}  // namespace

void PaletteModel::setEntries(std::vector<PaletteEntry> entries) {
  beginResetModel();
  m_entries = std::move(entries);
  m_hits = hits();
  endResetModel();
}

void PaletteModel::setFilter(const QString& wanted) {
  if (wanted == m_filter) return;
  beginResetModel();
  m_filter = wanted;
  m_hits = hits();
  endResetModel();
}

std::vector<PaletteModel::Hit> PaletteModel::hits() const {
  const QString wanted = m_filter.simplified();
  std::vector<Hit> found;
  for (std::size_t i = 0; i < m_entries.size(); ++i) {
    const CommandInfo& info = m_entries[i].info;
    if (wanted.isEmpty()) {
      found.push_back({.entry = i, .score = 0, .matched = {}});
      continue;
    }
    Hit hit{.entry = i, .score = 0, .matched = {}};
    if (m_entries[i].byWords && !hasWords(info.text, wanted)) continue;
    const QString category = categoryTitle(info.category);
    const qsizetype prefix = category.size() + 1;
    if (const auto inText = fuzzyMatch(wanted, info.text)) {
      hit.score = kInText + inText->score;
      for (const qsizetype place : inText->positions) hit.matched.append(static_cast<int>(place));
    } else if (const auto withCategory =
                   fuzzyMatch(wanted, QString(category + QLatin1Char(' ') + info.text))) {
      hit.score = kWithCategory + withCategory->score;
      for (const qsizetype place : withCategory->positions) {
        if (place >= prefix) hit.matched.append(static_cast<int>(place - prefix));
      }
    } else if (!info.help.contains(wanted, Qt::CaseInsensitive)) {
      continue;
    }
    found.push_back(std::move(hit));
  }
  if (wanted.isEmpty()) return found;
  std::stable_sort(found.begin(), found.end(), [this](const Hit& a, const Hit& b) {
    if (a.score != b.score) return a.score > b.score;
    return m_entries[a.entry].info.text.size() < m_entries[b.entry].info.text.size();
  });
  return found;
}

const PaletteModel::Hit* PaletteModel::hitAt(int row) const {
  if (row < 0 || std::cmp_greater_equal(row, m_hits.size())) return nullptr;
  return &m_hits[static_cast<std::size_t>(row)];
}

QString PaletteModel::idAt(int row) const {
  const Hit* hit = hitAt(row);
  return hit == nullptr ? QString() : m_entries[hit->entry].info.id;
}

bool PaletteModel::isEnabledAt(int row) const {
  const Hit* hit = hitAt(row);
  return hit != nullptr && m_entries[hit->entry].enabled;
}

int PaletteModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_hits.size());
}

QVariant PaletteModel::data(const QModelIndex& index, int role) const {
  const Hit* hit = index.isValid() ? hitAt(index.row()) : nullptr;
  if (hit == nullptr) return {};
  const PaletteEntry& entry = m_entries[hit->entry];
  const auto keys = [&entry] {
    QStringList shown;
    for (const QString& key : entry.info.keys) {
      shown += QKeySequence(key, QKeySequence::PortableText).toString(QKeySequence::NativeText);
    }
    return shown;
  };
  switch (role) {
    case Qt::DisplayRole:
      return entry.info.text;
    case Qt::ToolTipRole:
    case HelpRole:
      return entry.info.help;
    case Qt::AccessibleTextRole: {
      QString text = tr("%1: %2").arg(categoryTitle(entry.info.category), entry.info.text);
      if (!entry.info.keys.isEmpty()) text += QStringLiteral(", ") + keys().join(QStringLiteral(", "));
      return entry.enabled ? text : tr("%1, not available now").arg(text);
    }
    case Qt::AccessibleDescriptionRole:
      return entry.info.help;
    case IdRole:
      return entry.info.id;
    case CategoryRole:
      return categoryTitle(entry.info.category);
    case KeysRole:
      return keys();
    case MatchedRole:
      return QVariant::fromValue(hit->matched);
    default:
      return {};
  }
}

Qt::ItemFlags PaletteModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  Qt::ItemFlags flags = Qt::ItemIsSelectable | Qt::ItemNeverHasChildren;
  if (isEnabledAt(index.row())) flags |= Qt::ItemIsEnabled;
  return flags;
}

}  // namespace spanscope::ui
