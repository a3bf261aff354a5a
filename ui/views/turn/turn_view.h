// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the algebra of a turn for one pair of tokens: what is stored, what is turned, and the score.
#pragma once

#include "ui/views/common/drawn_parts.h"
#include "ui/views/common/moving_view.h"
#include "ui/views/common/run_view.h"
#include "ui/views/common/table_painting.h"
#include "ui/views/turn/turn_model.h"

#include <QPointer>

class QComboBox;
class QLabel;
class QPushButton;
class QTableWidget;

namespace spanscope::ui {

class TurnDrawing;

class TurnView : public RunView, public MovingView, public DrawnParts {
  Q_OBJECT
 public:
  explicit TurnView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const QWidget& placesIn() const override { return *this; }
  /// The tips of the arrows of the query or the key, if the token is one of them or the block holds it;
  /// before they are drawn, their names.
  std::vector<QRect> placesOf(const Selection& part) const override;
  void bringIntoSight(const Selection& /*part*/) override {}

  const TurnModel& turn() const { return m_model; }
  /// Whether the engine can be asked for the chosen pair now.
  bool canCompute() const;
  bool canPerform(const QString& command) const override;
  void perform(const QString& command) override;
  void choose(std::int32_t layer, std::int32_t head);

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  void takeQuery();
  void showControls();
  bool isOf(const trace::TokenPlace& place, const Selection& part) const;
  void fillTable();
  void stopMotion() override;
  void showMotion() override;
  QString pairText() const;
  QString statusText() const;
  PaintedTable painted() const;

  TurnOptions m_options;
  TurnModel m_model;
  bool m_isFilling = false;
  bool m_couldCompute = false;
  QString m_lastSummary;
  QLabel* m_pair;
  QLabel* m_status;
  QPushButton* m_compute;
  QPushButton* m_keep;
  TurnDrawing* m_drawing;
  QLabel* m_sentence;
  QTableWidget* m_table;
  QPointer<QComboBox> m_layer;
  QPointer<QComboBox> m_head;
};

}  // namespace spanscope::ui
