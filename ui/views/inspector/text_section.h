// SPDX-License-Identifier: GPL-3.0-or-later
// An editor for a long text, with the number of the text's tokens below.
#pragma once

#include "engine/text/tokenizer.h"
#include "ui/theme/theme.h"
#include "ui/views/common/text_tools.h"

#include <QWidget>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

class QLabel;
class QPlainTextEdit;

namespace spanscope::ui {

class TextSection : public QWidget {
  Q_OBJECT
 public:
  TextSection(DocumentUndo::ModelOf model, QWidget* parent);
  ~TextSection() override;

  void setLabel(const QString& label);
  /// Sets the text of the document. Does nothing if `text` is the text that the user typed last.
  void setText(const std::string& text);
  std::string text() const;
  void setReadOnly(bool isReadOnly);
  /// nullptr: no model is loaded.
  void setCounting(std::shared_ptr<const text::Tokenizer> tokenizer);
  /// Whether tokens are counted at all.
  void setCounted(bool isCounted);
  void setTheme(const Theme& theme);
  void focusText();
  QPlainTextEdit* editor() const { return m_editor; }
  QString countText() const;

 Q_SIGNALS:
  void edited();

 private:
  void count();

  QLabel* m_label;
  QPlainTextEdit* m_editor;
  QLabel* m_count;
  std::shared_ptr<const text::Tokenizer> m_tokenizer;
  std::string m_shown;
  std::optional<std::string> m_counted;  ///< the text to which the shown count belongs
  bool m_isSetting = false;
  bool m_isCounted = true;
  int m_countSerial = 0;
  std::stop_source m_counting;  ///< stops the count in progress when the next one starts
};

}  // namespace spanscope::ui
