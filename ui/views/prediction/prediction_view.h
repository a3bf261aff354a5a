// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the predicted cache hits of the next run while the user edits the query.
#pragma once

#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/table_view.h"
#include "ui/views/prediction/prediction_model.h"
#include "ui/views/view.h"

#include <QPointer>
#include <QString>
#include <QStringList>
#include <QWidget>

#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

class QLabel;
class QBoxLayout;
class QComboBox;
class QHBoxLayout;
class QPushButton;
class QTreeView;

namespace spanscope::ui {

// Compares the layouts for the document's next run: the changes of the prompts by each layout, and their
// cost.

struct LayoutTableRow {
  QStringList cells;      ///< one for each column
  bool isChosen = false;  ///< the document's settings have this layout and block size
  QString problem;        ///< why this layout cannot run; then the other cells are empty
  bool operator==(const LayoutTableRow&) const = default;
};

struct LayoutTable {
  QString gap;  ///< why there is nothing to show; empty: there is something
  QStringList columns;
  QStringList tips;  ///< tool tips of the columns
  std::vector<LayoutTableRow> rows;
  QString note;  ///< the conditions of the numbers
  bool operator==(const LayoutTable&) const = default;
};

LayoutTable layoutTable(const ViewInput& input);
QString layoutTableCsv(const LayoutTable& table);
PaintedTable paintedLayouts(const LayoutTable& table);

/// Shows the layouts side by side in a table. A note above the table has the conditions of the numbers.
class LayoutPage : public QWidget {
  Q_OBJECT
 public:
  explicit LayoutPage(QWidget* parent = nullptr);

  void showTable(LayoutTable table, const Theme& theme);
  const LayoutTable& table() const { return m_table; }

 private:
  void spanProblems();

  LayoutTable m_table;
  std::optional<Theme> m_shown;
  QLabel* m_note;
  TableView* m_view;
  PaintedTableModel* m_rows;
};

class PredictionDelegate;
class PredictionHeader;
class PlaceList;

class PredictionView : public RunView, public LateView {
  Q_OBJECT
 public:
  explicit PredictionView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;
  /// Waits for the cache simulators.
  void finish() override;

  const PredictionModel& model() const { return *m_model; }
  QTreeView& tree() { return *m_tree; }
  PlaceList& places() { return *m_places; }
  void setAgainst(Against against);
  /// Shows the prediction for a place, by PredictionPlace::id; empty: where the document runs.
  void showPlace(const QString& id);
  /// Lets the shown cache simulator make a run of its cache for the earlier queries and this one. predicted()
  /// follows. Does nothing unless canTrace().
  void trace();
  bool canTrace() const;
  bool canPerform(const QString& /*command*/) const override { return canTrace(); }
  void perform(const QString& /*command*/) override { trace(); }
  QPushButton& blocksButton() { return *m_blocks; }
  /// Sets whether the view shows the layouts side by side instead of the prediction.
  void showLayouts(bool shows);
  const LayoutPage& layouts() const { return *m_layouts; }

 protected:
  void refresh() override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  QString emptyText() const override;

 private:
  PredictionTable table() const;
  void trace(const QString& place);
  void showButton();
  void fill(PredictionTable table);
  void arrange();
  void showSelected();
  void choose(const QModelIndex& index);

  void refreshLayouts();
  void placeParts();
  /// The width of a column without cut texts.
  int leastWidth(int column) const;
  /// In a narrow dock, columns get the width that they need. If the dock is too narrow for all columns, those
  /// that the tool tips repeat disappear.
  void fitColumns();

  Against m_against = Against::Present;
  QString m_place;  ///< chosen by the user; empty: where the document runs
  bool m_showsLayouts = false;
  SimulatorAsker* m_simulators;
  std::optional<Theme> m_shown;
  QBoxLayout* m_head;  ///< header and button
  PredictionHeader* m_header;
  QHBoxLayout* m_buttonRow;
  QHBoxLayout* m_footRow;  ///< the row of the button in a high dock
  QPushButton* m_blocks;
  bool m_couldTell = false;
  PlaceList* m_places;
  QBoxLayout* m_body;
  QTreeView* m_tree;
  PredictionModel* m_model;
  PredictionDelegate* m_delegate;
  LayoutPage* m_layouts;
  std::set<document::NodeId> m_closed;  ///< steps that the user has collapsed
  bool m_filling = false;
  std::vector<int> m_widths;  ///< of the columns, as fitColumns() has set them; 0: hidden
  QPointer<QComboBox> m_box;
};

}  // namespace spanscope::ui
