// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/model_dialogs.h"

#include "ui/words/tr.h"

#include <QFileDialog>

namespace spanscope::ui {

QString askForModelFile(QWidget* parent) {
  return QFileDialog::getOpenFileName(parent, tr("A model in one file"), {},
                                      tr("Models (*.gguf);;All files (*)"));
}

QString askForModelFolder(QWidget* parent) {
  return QFileDialog::getExistingDirectory(parent, tr("Folder of a checkpoint"));
}

}  // namespace spanscope::ui
