// SPDX-License-Identifier: GPL-3.0-or-later
// Shows why the selected block was found or not.
#pragma once

#include "ui/views/common/block_history.h"
#include "ui/views/common/input_view.h"
#include "ui/views/why/why_model.h"

#include <vector>

class QTextBrowser;
class QUrl;

namespace spanscope::ui {

class VerdictChip;

class WhyView : public InputView {
  Q_OBJECT
 public:
  explicit WhyView(QWidget* parent = nullptr);

  QString csv() const override;

  const Why& shown() const { return m_why; }
  /// Does what a link of the model asks for.
  void follow(const WhyLink& link);

 protected:
  void refresh() override;

 private:
  QString html();
  QString anchor(const WhyText& text);
  void followUrl(const QUrl& url);

  BlockHistory m_history;
  WhyChangesMemo m_changes;
  Why m_why;
  std::vector<WhyLink> m_links;  ///< by the number in an anchor
  Theme m_drawn;
  bool m_any = false;
  QString m_summary;
  VerdictChip* m_chip;
  QTextBrowser* m_text;
};

}  // namespace spanscope::ui
