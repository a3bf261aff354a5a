// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/palette_model.h"

#include "ui/commands/fuzzy_match.h"
#include "ui/words/tr.h"

#include <QKeySequence>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

/// What was found in the command's own text goes before its search words, then what needed its category, and
/// that before what only its help says.
constexpr int kInText = 200;
constexpr int kOfWords = 150;
constexpr int kWithCategory = 100;

/// Other words that people type for a command or a view, by its id.
struct SearchWords {
  const char* id;
  QString words;
};

const std::vector<SearchWords>& searchWords() {
  static const std::vector<SearchWords> table{
      {"file.new", tr("create document query")},
      {"file.open", tr("load import")},
      {"file.export", tr("share api code request")},
      {"file.export-view", tr("image png svg csv screenshot")},
      {"file.export-window", tr("image png screenshot")},
      {"file.quit", tr("exit")},
      {"edit.find", tr("search")},
      {"edit.delete", tr("remove")},
      {"node.add", tr("insert create operator")},
      {"node.mute", tr("disable skip")},
      {"node.freeze", tr("pin cache")},
      {"node.note", tr("comment annotation")},
      {"node.frame", tr("group")},
      {"node.tidy", tr("arrange align layout")},
      {"run.run", tr("start execute generate submit play")},
      {"run.stop", tr("cancel abort interrupt")},
      {"run.turn", tr("rotation rope rotary position")},
      {"run.next-token", tr("logits probabilities distribution")},
      {"run.fidelity", tr("accuracy divergence quality full prefill")},
      {"run.choose-model", tr("checkpoint gguf weights load")},
      {"run.servers", tr("vllm llama.cpp endpoint remote connection")},
      {"run.serve", tr("server api endpoint openai")},
      {"run.clear-cache", tr("reset flush evict cold")},
      {"run.record", tr("trace")},
      {"run.save-trace", tr("trace export recording")},
      {"run.older", tr("previous history time travel")},
      {"run.newer", tr("next history time travel")},
      {"view.theme", tr("dark light mode colour color")},
      {"view.maximise", tr("maximize full screen zoom")},
      {"view.wheel", tr("scroll zoom mouse")},
      {"view.drag", tr("pan scroll mouse")},
      {"view.motion", tr("animation")},
      {"view.reset", tr("restore docks default")},
      {"help.manual", tr("documentation guide")},
      {"help.keys", tr("shortcuts keyboard bindings")},
      {"help.change-keys", tr("shortcuts keyboard bindings")},
      {"view.dock:add", tr("palette operators examples library")},
      {"view.dock:inspector", tr("properties editor text")},
      {"view.dock:json", tr("source code text")},
      {"view.dock:problems", tr("errors warnings validation")},
      {"view.dock:settings", tr("preferences options configuration seed sampling")},
      {"view.dock:tokens", tr("tokenizer segments sections span table")},
      {"view.dock:block-table", tr("virtual logical physical pages")},
      {"view.dock:why", tr("reason explanation hit miss relocated")},
      {"view.dock:pool", tr("kv cache memory eviction lru blocks")},
      {"view.dock:attention", tr("weights heads heat map shares")},
      {"view.dock:mask", tr("block attention causal matrix")},
      {"view.dock:turn", tr("rotation rotate rope rotary position relocation")},
      {"view.dock:next-token", tr("logits probabilities distribution alternatives")},
      {"view.dock:fragments", tr("chunks passages retrieval augment rag")},
      {"view.dock:output", tr("answers results replies")},
      {"view.dock:forecast", tr("prediction predict estimate cache simulator")},
      {"view.dock:plan", tr("steps rewrite rules lowering")},
      {"view.dock:timeline", tr("schedule gantt batch prefill decode")},
      {"view.dock:metrics", tr("plots numbers latency ttft itl throughput statistics")},
      {"view.dock:benchmark", tr("speed measure cold warm")},
      {"view.dock:policies", tr("compare blend link prefix spans fidelity")},
      {"view.dock:experiments", tr("sweep study plot")},
      {"view.dock:compare", tr("difference diff runs")},
      {"view.dock:log", tr("events trace messages")},
      {"view.dock:scrubber", tr("time travel replay history slider")},
  };
  return table;
}

/// Whether every typed word is the beginning of a search word of the command.
bool hasSearchWords(const QString& id, const QString& wanted) {
  const auto own = std::find_if(searchWords().begin(), searchWords().end(),
                                [&id](const SearchWords& each) { return id == QLatin1String(each.id); });
  if (own == searchWords().end()) return false;
  const QStringList known = own->words.split(QLatin1Char(' '));
  const QStringList typed = wanted.split(QLatin1Char(' '));
  return std::all_of(typed.begin(), typed.end(), [&known](const QString& word) {
    return std::any_of(known.begin(), known.end(),
                       [&word](const QString& each) { return each.startsWith(word, Qt::CaseInsensitive); });
  });
}

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
    } else if (wanted.size() > 1 && hasSearchWords(info.id, wanted)) {
      hit.score = kOfWords;
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
