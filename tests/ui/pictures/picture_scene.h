// SPDX-License-Identifier: GPL-3.0-or-later
// What golden pictures show: an example, run, two of its documents exchanged, and run again, at set times.
#pragma once

#include "ui/session/view_input.h"

namespace spanscope::test {

/// Made from a run on the bundled model, whose answers are the same on every machine; times, speeds,
/// versions and the names of folders and the machine are replaced by set ones. Without a tokenizer and a
/// selection.
ui::ViewInput pictureScene();
/// The same of a query with twenty documents, more than there is room for.
ui::ViewInput twentyDocumentsScene();

}  // namespace spanscope::test
