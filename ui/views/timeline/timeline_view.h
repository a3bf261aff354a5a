// SPDX-License-Identifier: GPL-3.0-or-later
// Shows one row for each request: when it waited, loaded blocks, computed its prompt and decoded.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/input_view.h"
#include "ui/views/timeline/timeline_model.h"

#include <QPointer>
#include <QWidget>

#include <vector>

class QComboBox;

namespace spanscope::ui {

class TimelineTable;
class StateLegend;

class TimelineView : public RunView {
  Q_OBJECT
 public:
  explicit TimelineView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const TimelineModel& model() const { return m_model; }
  TimelineTable& table() { return *m_table; }
  void setAllRuns(bool all);

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  void select(int row);

  TimelineModel m_model;
  bool m_allRuns = false;
  TimelineTable* m_table;
  QPointer<StateLegend> m_legend;
  QPointer<QComboBox> m_scope;
};

/// A legend for the title bar of a dock: colour swatches with words, in one line. In a narrow title bar the
/// words are shorter, but every entry is there.
class StateLegend : public QWidget {
  Q_OBJECT
 public:
  struct Swatch {
    BlockRole role = BlockRole::Free;
    QString text;
    QString brief;  ///< a shorter text
  };
  explicit StateLegend(std::vector<Swatch> entries, QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QSize sizeWith(bool isBrief) const;

  std::vector<Swatch> m_entries;
  Theme m_theme;
};

}  // namespace spanscope::ui
