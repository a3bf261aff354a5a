// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of generate nodes: count, model, max tokens, temperature, and frozen answers.
#pragma once

#include "engine/query/query.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/document/document.h"
#include "ui/theme/theme.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/inspector/parameter_section.h"

#include <QWidget>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

class QLabel;
class QPlainTextEdit;
class QComboBox;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace spanscope::ui {

// An editor for a long text, with the number of the text's tokens below.

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

class NumberField;

/// Changes the fields of the current node. `name` names the change for undo, `field` is the changed field,
/// `edit` makes the change.
using EditOwn = std::function<void(const QString& name, const QString& field,
                                   const std::function<void(query::Node& own)>& edit)>;

class GenerateSection : public QWidget {
  Q_OBJECT
 public:
  GenerateSection(EditOwn edit, const DocumentUndo::ModelOf& model, QWidget* parent);

  /// `servers`: the names of servers that may answer.
  void setNode(document::NodeId id, const document::DocumentNode& node,
               const std::vector<std::string>& servers);
  void setTheme(const Theme& theme);
  void focusFirst();

 Q_SIGNALS:
  /// The user chose `server` for DocumentNode::server.
  void serverChosen(const std::string& server);
  void freezeWanted();  ///< use the node's last answers instead of running the node
  void unfreezeWanted();
  /// The user has changed the text of the frozen answer with this index, from 0.
  void frozenEdited(std::size_t index, const std::string& text);

 private:
  void showServers(const std::string& chosen, const std::vector<std::string>& servers);
  void showFrozen(const query::Node& own);
  void showAnswer();

  EditOwn m_edit;
  FormRows* m_rows;
  NumberField* m_count;
  QLabel* m_countLabel;
  QLineEdit* m_model;
  NumberField* m_maxTokens;
  NumberField* m_temperature;
  QComboBox* m_server;
  QLabel* m_serverLabel;
  QPushButton* m_freeze;
  QLabel* m_freezeLabel;
  QLabel* m_whichLabel;
  QSpinBox* m_which;  ///< which of several frozen answers is shown, from 1
  TextSection* m_frozen;
  document::NodeId m_node = document::kNoNode;
  std::vector<std::string> m_answers;  ///< frozen answers; none: the node runs
};

/// The fields of an augment: the document to search, and the model that searches.
class AugmentSection : public QWidget {
  Q_OBJECT
 public:
  AugmentSection(EditOwn edit, const DocumentUndo::ModelOf& model, QWidget* parent);

  void setNode(const document::DocumentNode& node);
  void setTheme(const Theme& theme);
  void focusFirst();

 private:
  EditOwn m_edit;
  FormRows* m_rows;
  QLineEdit* m_embedding;
  QLineEdit* m_name;
  QLabel* m_bytes;
  QLabel* m_bytesLabel;
  TextSection* m_content;
};

// A field for a number of the query language. The number may also be left out, null or a parameter.

class CheckedField;

/// A float and an int of 32 bits both fit into the double without loss.
using NumberValue = std::variant<query::Absent, query::Null, double, query::Parameter>;

class NumberField : public QWidget {
  Q_OBJECT
 public:
  enum class Kind {
    Count,        ///< 0 … 255, or a parameter
    MaxTokens,    ///< an int of 32 bits, null, left out, or a parameter
    Temperature,  ///< a finite float, null, left out, or a parameter
  };
  /// `parameter` is the name that the field suggests for a parameter.
  NumberField(Kind kind, const QString& accessibleName, const QString& parameter, QWidget* parent);

  void setValue(const NumberValue& value);
  const NumberValue& value() const { return m_value; }
  QString reason() const;
  void setTheme(const Theme& theme);
  QComboBox* modes() const { return m_modes; }
  CheckedField* field() const { return m_field; }

 Q_SIGNALS:
  void edited();  ///< the user has entered another valid value

 private:
  QString apply(const QString& text);
  void chooseMode(int index);
  void show();

  Kind m_kind;
  QString m_parameter;
  NumberValue m_value;
  double m_lastNumber;
  QComboBox* m_modes;
  CheckedField* m_field;
};

}  // namespace spanscope::ui
