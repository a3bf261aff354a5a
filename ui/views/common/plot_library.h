// SPDX-License-Identifier: GPL-3.0-or-later
// QCustomPlot uses Qt's keywords in lower case, which the window's code switches off. Only its header gets
// them back.
#pragma once

#pragma push_macro("signals")
#pragma push_macro("slots")
#pragma push_macro("foreach")
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#pragma pop_macro("foreach")
#pragma pop_macro("slots")
#pragma pop_macro("signals")
