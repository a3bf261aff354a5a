// SPDX-License-Identifier: GPL-3.0-or-later
// Shows a bar for each source of the prompt: its share of the answer's attention.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/attention/attention_shares.h"

#include <QFont>
#include <QRect>
#include <QString>
#include <QWidget>

#include <cstddef>
#include <optional>
#include <vector>

namespace spanscope::ui {

class ShareBars : public QWidget {
  Q_OBJECT
 public:
  explicit ShareBars(QWidget* parent = nullptr);

  void setContent(const ShareModel& model, const Theme& theme);
  const ShareModel& model() const { return m_model; }
  /// Shows bars on their way from other ones, `done` of it (0 … 1); nothing: at rest.
  void showMotion(std::optional<ShareModel> before, double done);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {0, 0}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  /// Paints the bars at rest.
  void paint(QPainter& painter, const QRect& area);
  /// The rectangle of a bar and its label, in a widget of this size.
  QRect barRect(std::size_t bar, const QRect& area) const;
  /// The part of barRect() that is filled, as high as the share.
  QRect filledRect(std::size_t bar, const QRect& area) const;
  /// The labels under the bars at this width.
  std::vector<QString> labels(int width) const;

  /// The share of a bar in figures, and where it stands: in nobody's bar, over no other one.
  struct Value {
    std::size_t bar = 0;
    QString text;
    QRect place;
  };
  std::vector<Value> values(const QRect& area) const;

 Q_SIGNALS:
  void chosen(std::size_t bar);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  struct Labels {
    std::vector<QString> texts;
    bool upright = false;  ///< labels are turned upright, because they have no room side by side
    int height = 0;
  };
  Labels labelsFor(int width) const;
  void keepApart(std::vector<QString>& texts, int width) const;
  void paintNow(QPainter& painter, const QRect& area) const;
  /// The share of a bar as it stands now.
  double shareOf(std::size_t bar) const;
  /// Whether the note has room on the line of the sentence. If not, it gets a line of its own.
  bool noteStandsBeside(int width) const;
  int headHeight(int width) const;  ///< height of sentence and note
  std::optional<std::size_t> barAt(const QPoint& place) const;
  void setCurrent(std::size_t bar);
  void paintBar(QPainter& painter, const QRect& area, const Labels& labels, std::size_t bar) const;
  QFont valueFont(const ShareBar& bar) const;

  ShareModel m_model;
  std::optional<ShareModel> m_before;
  double m_done = 1;
  Theme m_theme;
  int m_headWidth = 0;                   ///< width of sentence and note side by side
  std::optional<std::size_t> m_current;  ///< the bar that the arrow keys move from
};

}  // namespace spanscope::ui
