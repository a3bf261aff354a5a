// SPDX-License-Identifier: GPL-3.0-or-later
// Choices that several views offer: a bundled example, a model on this machine, and the runs to show.
#pragma once

#include "ui/session/run_list.h"

#include <QComboBox>
#include <QString>

#include <vector>

class QWidget;
class QHBoxLayout;

namespace spanscope::ui {

/// An example query that is bundled with the program.
struct Example {
  QString file;  ///< file name in resources/queries
  QString title;
  QString description;  ///< one line
};

/// All example queries, the simplest first.
const std::vector<Example>& exampleTable();

// Dialogs that ask for a model on this machine.

/// Each dialog returns a path. The path is empty if the user chose nothing.
QString askForModelFile(QWidget* parent);    ///< a GGUF file
QString askForModelFolder(QWidget* parent);  ///< a Hugging Face directory

// A combo box for choosing the runs that a view shows: the runs of this document, or of all documents.

class ScopeBox : public QComboBox {
  Q_OBJECT
 public:
  /// Adds itself to `row`, the title controls of a view.
  explicit ScopeBox(QHBoxLayout* row);

  RunScope scope() const;
  /// Sets the number of runs of other documents. If the number is 0, the box is hidden.
  void setOthers(std::size_t others);

 Q_SIGNALS:
  void changed();
};

}  // namespace spanscope::ui
