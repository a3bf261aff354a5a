// SPDX-License-Identifier: GPL-3.0-or-later
// Shows what the selected augment found, with scores. A person can pin and drop fragments for the next run.
#pragma once

#include "ui/views/common/input_view.h"
#include "ui/views/common/table_painting.h"
#include "ui/views/fragments/fragments_content.h"

#include <QPointer>

#include <functional>
#include <optional>

class QComboBox;
class QSpinBox;
class QTableView;
class QToolButton;

namespace spanscope::ui {

class FragmentsView : public RunView {
  Q_OBJECT
 public:
  explicit FragmentsView(QWidget* parent = nullptr);

  void setModel(DocumentModel* model) override;
  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const FragmentListModel& list() const { return *m_list; }

 protected:
  void refresh() override;
  QString emptyText() const override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void makeControls();
  QString whatWillStandHere() const;
  void showControls();
  void showMenu(const QPoint& at);
  /// Gives the current row this mark, or removes the mark if the row has it already.
  void toggleMark(document::FragmentMark mark);
  void changeSettings(const QString& name, const std::function<void(document::RunSettings&)>& change);
  std::optional<FragmentRow> currentRow() const;
  PaintedTable painted(const FragmentsContent& content) const;

  FragmentListModel* m_list;
  QTableView* m_table;
  std::optional<Theme> m_shown;  ///< the theme of the table's style
  QPointer<QComboBox> m_ranking;
  QPointer<QSpinBox> m_count;
  QPointer<QToolButton> m_pin;
  QPointer<QToolButton> m_drop;
};

}  // namespace spanscope::ui
