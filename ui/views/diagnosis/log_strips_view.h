// SPDX-License-Identifier: GPL-3.0-or-later
// The prompt of the chosen request of a log beside its best earlier request, token by token.
#pragma once

#include "ui/session/log_diagnosis.h"
#include "ui/views/common/input_view.h"

#include <QPointer>

#include <memory>

class QLabel;
class QToolButton;

namespace spanscope::ui {

class BlockLegend;
class LogStripsArea;

class LogStripsView : public InputView {
  Q_OBJECT
 public:
  explicit LogStripsView(QWidget* parent = nullptr);

  QWidget* takeTitleControls() override;
  void paintTo(QPainter& painter, const QSize& size) override;
  LogStripsArea& area() { return *m_area; }

 protected:
  void refresh() override;
  void paintEvent(QPaintEvent* event) override;

 private:
  QString emptyText() const;
  QString explanation() const;

  std::shared_ptr<const LogState> m_state = std::make_shared<const LogState>();
  LogStripsArea* m_area;
  QLabel* m_explanation;
  QToolButton* m_go;
  QPointer<BlockLegend> m_legend;  ///< in the title bar, which owns it
};

}  // namespace spanscope::ui
