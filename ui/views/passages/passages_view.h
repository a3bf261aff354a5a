// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the passages that the selected augment retrieved in a run, with scores. The user can pin and drop
// passages for the next run.
#pragma once

#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/table_painting.h"

#include <QAbstractTableModel>
#include <QPointer>
#include <QString>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct PassageRow {
  QString hash;
  std::uint32_t rank = 0;  ///< from 1; 0: the passage is pinned and not ranked
  double score = 0;
  QString found;   ///< ranks and scores, e.g. "words 1 (8.12) · vectors 3 (0.71)"
  QString source;  ///< document, and place in it
  QString text;
  bool inPrompt = false;  ///< the passage was in the prompt of the run.
  /// The user's current mark in the document, for the next run.
  std::optional<document::PassageMark> mark;
  bool isChanged = false;  ///< the mark differs from the run's
  bool operator==(const PassageRow&) const = default;
};

struct PassagesContent {
  /// The augment; kNoNode: there is none, or no run has retrieved for it.
  document::NodeId node = document::kNoNode;
  RunId run = 0;
  QString question;
  QString ranking;  ///< "lexical", "embedding", "hybrid"
  std::uint64_t documents = 0;
  std::vector<PassageRow> rows;  ///< first the passages in the prompt, in their order there
  bool canMark = false;          ///< the node is an augment of the document
  bool isAsked = false;          ///< an augment is selected, but no run has retrieved for it
  bool operator==(const PassagesContent&) const = default;
};

/// Returns the passages of the selected node, from the last run up to the input's position that retrieved for
/// it. If the selected node does not retrieve, uses the first augment of the last run with an augment.
PassagesContent passagesContent(const ViewInput& input);

/// "5 in the prompt · 18 documents · hybrid". Empty if there is nothing.
QString passagesSummary(const PassagesContent& content);

/// The passages of an augment as a table.
class PassageListModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { State, Rank, Score, Text, Source, Found, ColumnCount };

  using QAbstractTableModel::QAbstractTableModel;

  void setContent(PassagesContent content);
  const PassagesContent& content() const { return m_content; }
  void setTheme(const Theme& theme);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  /// The state of a passage in the run, or in the next run: "in the prompt", "pinned", "dropped, next run", …
  static QString stateText(const PassageRow& row);
  static Role stateInk(const PassageRow& row);

 private:
  QString text(const PassageRow& row, int column) const;

  PassagesContent m_content;
  Theme m_theme;
};

}  // namespace spanscope::ui
class QComboBox;
class QSpinBox;
class QTableView;
class QToolButton;

namespace spanscope::ui {

class PassagesView : public RunView {
  Q_OBJECT
 public:
  explicit PassagesView(QWidget* parent = nullptr);

  void setModel(DocumentModel* model) override;
  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const PassageListModel& list() const { return *m_list; }

 protected:
  void refresh() override;
  QString emptyText() const override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void makeControls();
  QString whatWillStandHere() const;
  void showControls();
  void showMenu(const QPoint& at);
  /// Gives the current row this mark, or removes the mark if the row already has this mark.
  void toggleMark(document::PassageMark mark);
  void changeSettings(const QString& name, const std::function<void(document::RunSettings&)>& change);
  std::optional<PassageRow> currentRow() const;
  PaintedTable painted(const PassagesContent& content) const;

  PassageListModel* m_list;
  QTableView* m_table;
  std::optional<Theme> m_shown;  ///< the theme of the table's style
  QPointer<QComboBox> m_ranking;
  QPointer<QSpinBox> m_count;
  QPointer<QToolButton> m_pin;
  QPointer<QToolButton> m_drop;
};

}  // namespace spanscope::ui
