// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the rotation (RoPE) for one pair of tokens: the stored key, the rotated vectors and the score.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/moving_view.h"
#include "ui/views/common/table_view.h"
#include "ui/views/rotation/rotation_model.h"
#include "ui/views/view.h"

#include <QPointer>
#include <QRect>
#include <QWidget>

#include <cstddef>
#include <vector>

class QComboBox;
class QLabel;
class QPushButton;
class QSlider;

namespace spanscope::ui {

class RotationDrawing;

class RotationView : public RunView, public MovingView, public DrawnParts {
  Q_OBJECT
 public:
  explicit RotationView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const QWidget& placesIn() const override { return *this; }
  /// If the token or block of the query vector or key is selected, returns the tips of its arrows. If there
  /// is no drawing yet, the result is the line with the names.
  std::vector<QRect> placesOf(const Selection& part) const override;
  void bringIntoSight(const Selection& /*part*/) override {}

  const RotationModel& turn() const { return m_model; }
  /// Whether the engine can compute the chosen pair now.
  bool canCompute() const;
  bool canPerform(const QString& command) const override;
  void perform(const QString& command) override;
  void choose(std::int32_t layer, std::int32_t head);
  /// Moves the key's segment to this start position in the last drawing. Query vector and key move together.
  void moveSegment(std::int64_t start);

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  void takeQuery();
  void showControls();
  bool isOf(const trace::TokenPlace& place, const Selection& part) const;
  void stopMotion() override;
  void showMotion() override;
  QString pairText() const;
  QString statusText() const;
  PaintedTable table() const;

  RotationOptions m_options;
  RotationModel m_model;
  bool m_isFilling = false;
  bool m_couldCompute = false;
  QString m_lastSummary;
  QLabel* m_pair;
  QLabel* m_status;
  QPushButton* m_compute;
  QPushButton* m_keep;
  RotationDrawing* m_drawing;
  QWidget* m_move;
  QLabel* m_moveText;
  QSlider* m_start;
  QLabel* m_sentence;
  TableView* m_table;
  PaintedTableModel* m_rows;
  QPointer<QComboBox> m_layer;
  QPointer<QComboBox> m_head;
};

/// Draws one pair of elements of query vector and key as arrows in the plane, before and after rotation.
/// There is a drawing for each RotationWay. The angle between the rotated arrows is the same in all drawings.
class RotationDrawing : public QWidget {
  Q_OBJECT
 public:
  explicit RotationDrawing(QWidget* parent = nullptr);

  void setContent(const RotationModel& model, const Theme& theme);
  /// Sets the progress of the rotation, 0 … 1. The stored key does not move.
  void setTurned(double share);
  void paint(QPainter& painter, const QRect& area, double turned = 1) const;
  enum class Arrow { Key, Query };
  /// The tips of the fully rotated arrows of one kind, one for each RotationWay, in pixels.
  std::vector<QRect> tips(Arrow arrow) const;
  /// The places of the names of the arrows below the drawing, in one or more rows.
  std::vector<QRectF> legendAreas(const QRect& area) const;
  QSize sizeHint() const override { return {540, 230}; }
  QSize minimumSizeHint() const override { return {240, 190}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  enum class Head { Square, Triangle };
  /// The circle of one RotationWay.
  struct Circle {
    QPointF middle;
    double radius = 0;
    double room = 0;  ///< height for the circle
  };
  Circle circleIn(const QRectF& area) const;
  QRectF areaOf(std::size_t place, const QRect& area) const;
  /// One kind of arrow with its name.
  struct LegendEntry {
    QString text;
    QColor ink;
    Head head = Head::Square;
    bool isRotated = false;
  };
  std::vector<LegendEntry> legend() const;
  double longest() const;  ///< length of the longest arrow
  void paintPlace(QPainter& painter, const QRectF& area, const RotationWay& place, double longest,
                  bool isStored, double turned) const;
  void paintArrow(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& ink, Head head,
                  bool isRotated) const;

  RotationModel m_model;
  Theme m_theme;
  double m_turned = 1;
};

}  // namespace spanscope::ui
