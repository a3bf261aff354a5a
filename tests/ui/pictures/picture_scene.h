// SPDX-License-Identifier: GPL-3.0-or-later
// What golden pictures show: an example, run, two of its documents exchanged, and run again, at set times.
#pragma once

#include "ui/session/view_input.h"

namespace spanscope::test {

/// Made from a run on the bundled model, whose answers are the same on every machine; times, speeds,
/// versions and the names of folders and the machine are replaced by set ones. A block that was found again
/// elsewhere is selected, and the next run is forecast. Without a tokenizer.
ui::ViewInput pictureScene();
/// The same of a query with twenty documents, more than there is room for.
ui::ViewInput twentyDocumentsScene();
/// The same of a query with generates inside.
ui::ViewInput stepsScene();
/// A query that cannot run, with things that are probably not meant besides.
ui::ViewInput mistakenScene();
/// Runs that retrieved; one fragment is pinned.
ui::ViewInput fragmentsScene();

}  // namespace spanscope::test
