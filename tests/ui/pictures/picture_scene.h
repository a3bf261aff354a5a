// SPDX-License-Identifier: GPL-3.0-or-later
// The inputs that golden pictures show: an example is run, two of its documents are swapped, and it is run
// again. All times are fixed.
#pragma once

#include "ui/session/view_input.h"

namespace spanscope::test {

/// An input made from a run on the bundled model, whose answers are the same on every machine. Times, speeds,
/// versions and the names of folders and the machine are replaced by fixed ones. A relocated block is
/// selected, and the next run is predicted. There is no tokenizer.
ui::ViewInput pictureScene();
/// The same for a query with twenty documents, for which there is not enough room.
ui::ViewInput twentyDocumentsScene();
/// The same for a query with generates inside.
ui::ViewInput stepsScene();
/// A query that cannot run and also has warnings.
ui::ViewInput mistakenScene();
/// Runs that retrieved passages. One passage is pinned.
ui::ViewInput passagesScene();

}  // namespace spanscope::test
