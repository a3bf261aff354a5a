// SPDX-License-Identifier: GPL-3.0-or-later
// Dialogs that ask for a model on this machine.
#pragma once

#include <QString>

class QWidget;

namespace spanscope::ui {

/// Each dialog returns a path. The path is empty if the user chose nothing.
QString askForModelFile(QWidget* parent);    ///< a GGUF file
QString askForModelFolder(QWidget* parent);  ///< a Hugging Face directory

}  // namespace spanscope::ui
