// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the answers, the newest first.
#pragma once

#include "ui/views/common/input_view.h"
#include "ui/views/output/output_model.h"

#include <QPointer>

#include <vector>

class QPushButton;
class QScrollArea;
class QVBoxLayout;

namespace spanscope::ui {

class AnswerCard;
class ScopeBox;

class OutputView : public RunView {
  Q_OBJECT
 public:
  explicit OutputView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const OutputModel& model() const { return m_model; }
  /// The shown cards, from top to bottom.
  const std::vector<AnswerCard*>& cards() const { return m_cards; }

 protected:
  void refresh() override;
  QString emptyText() const override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  bool isLow() const;
  RunScope scope() const;
  RunId runInView() const;
  void scrollToRun();
  OutputModel m_model;
  std::size_t m_most;
  QScrollArea* m_scroll;
  QVBoxLayout* m_list;
  QPushButton* m_more;
  std::vector<AnswerCard*> m_cards;
  RunId m_shown = 0;           ///< the run to whose answers the list was scrolled last; 0: none
  QPointer<ScopeBox> m_scope;  ///< the dock owns it after takeTitleControls()
};

}  // namespace spanscope::ui
