// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/replay_fields.h"
#include "engine/trace/trace_file.h"

namespace spanscope::trace {

template <class V, Is<TraceHeader> X>
void fields(V&& v, X& x) {
  v("program", x.program);
  v("createdAt", x.createdAt);
}

}  // namespace spanscope::trace
