// SPDX-License-Identifier: GPL-3.0-or-later
// The list of the command palette: the commands that match the typed text, the best first.
#pragma once

#include "ui/commands/command_table.h"

#include <QAbstractListModel>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

struct PaletteEntry {
  CommandInfo info;
  bool enabled = true;  ///< the command would do something now
  /// Its text is a sentence, in which letters stand here and there whatever is typed: it is found only where
  /// each typed word stands in it.
  bool byWords = false;
};

/// Makes entries from the table. `enabled` says of each id whether the command would do something now.
template <class Predicate>
std::vector<PaletteEntry> paletteEntries(const std::vector<CommandInfo>& table, Predicate enabled) {
  std::vector<PaletteEntry> entries;
  entries.reserve(table.size());
  for (const CommandInfo& info : table) entries.push_back({.info = info, .enabled = enabled(info.id)});
  return entries;
}

class PaletteModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum PaletteRole {
    IdRole = Qt::UserRole,
    CategoryRole,
    KeysRole,  ///< QStringList: keys as a person reads them, e.g. "Ctrl+K"
    HelpRole,
    MatchedRole,  ///< QList<int>: the matched characters of the display text
  };

  using QAbstractListModel::QAbstractListModel;

  void setEntries(std::vector<PaletteEntry> entries);
  void setFilter(const QString& wanted);
  QString filter() const { return m_filter; }

  /// The id of the command in a row; empty if there is no such row.
  QString idAt(int row) const;
  bool isEnabledAt(int row) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  struct Hit {
    std::size_t entry = 0;
    int score = 0;
    QList<int> matched;
    bool operator==(const Hit&) const = default;
  };
  std::vector<Hit> hits() const;
  const Hit* hitAt(int row) const;

  std::vector<PaletteEntry> m_entries;
  QString m_filter;
  std::vector<Hit> m_hits;
};

}  // namespace spanscope::ui
