// SPDX-License-Identifier: GPL-3.0-or-later
// The command palette: a popup in which the user finds commands, with its list model, delegate and matching.
#pragma once

#include "ui/commands/command_table.h"
#include "ui/theme/theme.h"

#include <QAbstractListModel>
#include <QFrame>
#include <QStringView>
#include <QStyledItemDelegate>

#include <cstddef>
#include <optional>
#include <vector>

class QLabel;
class QLineEdit;
class QListView;

namespace spanscope::ui {

struct PaletteEntry {
  CommandInfo info;
  bool enabled = true;  ///< the command is enabled
  /// Matches only if the command's text contains each typed word. Set this flag for sentences: scattered
  /// letters of a sentence match almost any typed text.
  bool byWords = false;
};

/// Makes entries from the table. `enabled` returns whether the command with an id is enabled.
template <class Predicate>
std::vector<PaletteEntry> paletteEntries(const std::vector<CommandInfo>& table, Predicate enabled) {
  std::vector<PaletteEntry> entries;
  entries.reserve(table.size());
  for (const CommandInfo& info : table) entries.push_back({.info = info, .enabled = enabled(info.id)});
  return entries;
}

/// The commands that match the typed text, the best match first.
class PaletteModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum PaletteRole {
    IdRole = Qt::UserRole,
    CategoryRole,
    KeysRole,  ///< QStringList: keys as native text, e.g. "Ctrl+K"
    HelpRole,
    MatchedRole,  ///< QList<int>: the matched characters of the display text
  };

  using QAbstractListModel::QAbstractListModel;

  void setEntries(std::vector<PaletteEntry> entries);
  void setFilter(const QString& wanted);
  QString filter() const { return m_filter; }

  /// The id of the command in a row; empty if the row does not exist.
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

class PaletteDelegate;

class CommandPalette : public QFrame {
  Q_OBJECT
 public:
  /// The popup opens over the upper part of `parent`'s window.
  explicit CommandPalette(QWidget* parent);

  void setTheme(const Theme& theme);
  /// Opens the popup with these commands and an empty search line.
  void open(std::vector<PaletteEntry> entries);

  QLineEdit* field() const { return m_field; }
  QListView* list() const { return m_list; }
  const PaletteModel& model() const { return *m_model; }

 Q_SIGNALS:
  /// The user has chosen a command. Sent after the popup has closed.
  void chosen(const QString& id);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void applyFilter(const QString& wanted);
  void move(int rows);
  void choose(int row);
  void place();

  Theme m_theme;
  QLineEdit* m_field = nullptr;
  QListView* m_list = nullptr;
  QLabel* m_count = nullptr;
  QLabel* m_nothing = nullptr;
  PaletteModel* m_model = nullptr;
  PaletteDelegate* m_delegate = nullptr;
};

/// Paints a row of the command palette. The first line has the command with marked matches, and its category.
/// The second line has the help. The keys are at the right.
class PaletteDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void setTheme(const Theme& theme) { m_theme = theme; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  Theme m_theme;
};

inline constexpr int kPaletteRowHeight = 44;  ///< pixels

struct FuzzyMatch {
  int score = 0;                     ///< larger is better; only for comparisons
  std::vector<qsizetype> positions;  ///< indices of the matched characters of the text, ascending
  bool operator==(const FuzzyMatch&) const = default;
};

/// Finds the letters of `wanted` in `text` in this order, with anything between them. Ignores case, and
/// spaces in `wanted`. Returns the placement with the best score. Beginnings of words and unbroken runs count
/// most. An empty `wanted` matches every text with score 0. Returns nothing if there is no match.
std::optional<FuzzyMatch> fuzzyMatch(QStringView wanted, QStringView text);

}  // namespace spanscope::ui
