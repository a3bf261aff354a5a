// SPDX-License-Identifier: GPL-3.0-or-later
// Small dialogs of the window: about the program, a choice among items, the difference of two texts, the
// server for a lesson, and the chat template.
#pragma once

#include "engine/workbench/servers/server_list.h"
#include "engine/workbench/template_facts.h"
#include "ui/session/task_thread.h"
#include "ui/theme/theme.h"

#include <QDialog>
#include <QListWidget>
#include <QPushButton>
#include <QString>
#include <QStringList>

#include <memory>
#include <string>
#include <vector>

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace spanscope::ui {

struct AboutFact {
  QString name;
  QString value;
  bool operator==(const AboutFact&) const = default;
};
/// Versions, and the device on which the engine computes. `device` is the text from the engine. Empty: not
/// known yet.
std::vector<AboutFact> aboutFacts(const QString& device);

class AboutBox : public QDialog {
  Q_OBJECT
 public:
  AboutBox(const QString& device, const Theme& theme, QWidget* parent = nullptr);

  /// The text that the copy button puts on the clipboard, for a problem report.
  QString text() const;

 private:
  std::vector<AboutFact> m_facts;
};

/// A dialog with one question about several items. The user can uncheck items.
class ChecklistDialog : public QDialog {
  Q_OBJECT
 public:
  struct Item {
    QString title;
    QString detail;  ///< a second line
  };
  struct Choice {
    QString id;
    QString text;
    bool needsChecked = true;  ///< the choice needs at least one checked item
    bool isDefault = false;
  };

  /// `question` is one sentence. `explanation` describes what happens to items that are not checked. At first
  /// all items are checked. The dialog has a button for each choice, and one that cancels.
  ChecklistDialog(const QString& title, const QString& question, const QString& explanation,
                  const std::vector<Item>& items, const std::vector<Choice>& choices,
                  const QString& cancelText, const Theme& theme, QWidget* parent = nullptr);

  /// The id of the chosen button; empty: cancelled.
  const QString& choice() const { return m_choice; }
  std::vector<std::size_t> checked() const;  ///< indices of items, ascending

 private:
  void updateButtons();

  QString m_choice;
  QListWidget* m_list = nullptr;
  std::vector<QPushButton*> m_needChecked;
};

enum class LineChange { Same, Removed, Added };

struct DiffLine {
  LineChange change = LineChange::Same;
  QString text;
  bool operator==(const DiffLine&) const = default;
};

/// The lines of `before` and `after`, each kept, removed or added, with as few changes as possible
/// (engine/base/difference.h).
std::vector<DiffLine> diffLines(const QStringList& before, const QStringList& after);

/// Shows the lines that differ between two texts, and a few lines around them. Removed lines have a minus,
/// added lines a plus.
class DifferenceDialog : public QDialog {
  Q_OBJECT
 public:
  /// `sentence` explains where the two texts come from.
  DifferenceDialog(const QString& title, const QString& sentence, const QString& before, const QString& after,
                   const Theme& theme, QWidget* parent = nullptr);
};

/// Keeps the changed lines and, on each side of a change, at most `around` unchanged lines. An ellipsis
/// replaces other lines.
std::vector<DiffLine> withoutDistantLines(const std::vector<DiffLine>& lines, std::size_t around);

/// Asks where the runs of one lesson go: to the embedded engine, or to a server of the list. The list shows
/// names and addresses, and the embedded engine is selected first. A lesson sends nothing to a server without
/// this choice.
class LessonServerDialog : public QDialog {
  Q_OBJECT
 public:
  /// `wanted`: the server that the lesson's query names; empty: none. The list may not have this server.
  LessonServerDialog(const std::vector<workbench::NamedServer>& servers, const std::string& wanted,
                     const Theme& theme, QWidget* parent = nullptr);

  /// The name of the chosen server; empty: the embedded engine.
  std::string server() const;

 private:
  QListWidget* m_list;
};

/// Shows the source of a checkpoint's chat template, and beside it a conversation in the chosen template. If
/// the checkpoint's template is unknown, the user chooses a template here. A separate thread reads the
/// checkpoint.
class TemplateDialog : public QDialog {
  Q_OBJECT
 public:
  /// `checkpoint`: a path. `chosen`: RunSettings::chatTemplate.
  TemplateDialog(const std::string& checkpoint, const QString& modelName, std::string chosen,
                 const Theme& theme, QWidget* parent = nullptr);
  ~TemplateDialog() override;

  /// The new value of RunSettings::chatTemplate.
  std::string chosen() const;
  /// False while the checkpoint is being read.
  bool isRead() const { return m_facts != nullptr; }

 Q_SIGNALS:
  void read();

 private:
  void show(std::shared_ptr<const workbench::TemplateFacts> facts);
  void fillChoices();
  void showChoice();

  QString m_model;
  std::string m_chosen;
  std::shared_ptr<const workbench::TemplateFacts> m_facts;
  QLabel* m_says;
  QPlainTextEdit* m_own;
  QLabel* m_ownTitle;
  QPlainTextEdit* m_sample;
  QComboBox* m_choices;
  QLabel* m_remark;
  QPushButton* m_use;
  TaskThread m_thread;  ///< ends before the other members
};

}  // namespace spanscope::ui
