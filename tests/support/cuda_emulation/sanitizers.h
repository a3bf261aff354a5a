// SPDX-License-Identifier: GPL-3.0-or-later
// The emulation's notifications to the address sanitizer and the thread sanitizer. Without them it does
// nothing.
#pragma once

#include "tests/support/sanitized.h"

#include <cstddef>
#include <cstdint>

#if SPANSCOPE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if SPANSCOPE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

/// Marks a function of the emulation that reads what other fibers write.
#define SPANSCOPE_UNSEEN __attribute__((no_sanitize("thread")))
/// Marks a function that runs on two stacks: no sanitizer may keep a record of it.
#define SPANSCOPE_BETWEEN_STACKS __attribute__((noinline, no_sanitize("address"), no_sanitize("thread")))

namespace spanscope::cuda::emulation {

/// The type with which 16 bytes of memory are read and written. The thread sanitizer would not see what the
/// compiler makes of memcpy.
using Word [[gnu::may_alias]] = std::uint64_t;
inline void copy16(void* target, const void* source) {
  static_cast<Word*>(target)[0] = static_cast<const Word*>(source)[0];
  static_cast<Word*>(target)[1] = static_cast<const Word*>(source)[1];
}
inline void fill16(void* target, std::uint64_t word) {
  static_cast<Word*>(target)[0] = word;
  static_cast<Word*>(target)[1] = word;
}

/// Makes the sanitizer report every read and write there.
inline void poison([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t bytes) {
#if SPANSCOPE_ADDRESS_SANITIZER
  __asan_poison_memory_region(begin, bytes);
#endif
}
inline void unpoison([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t bytes) {
#if SPANSCOPE_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(begin, bytes);
#endif
}

inline void startSwitch([[maybe_unused]] void** fakeStack, [[maybe_unused]] const void* bottom,
                        [[maybe_unused]] std::size_t bytes) {
#if SPANSCOPE_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(fakeStack, bottom, bytes);
#endif
}
inline void finishSwitch([[maybe_unused]] void* fakeStack, [[maybe_unused]] const void** oldBottom,
                         [[maybe_unused]] std::size_t* oldBytes) {
#if SPANSCOPE_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(fakeStack, oldBottom, oldBytes);
#endif
}

// The thread sanitizer treats fibers as threads: a switch orders nothing, but a barrier does.

inline void* makeThreadRecord() {
#if SPANSCOPE_THREAD_SANITIZER
  return __tsan_create_fiber(0);
#else
  return nullptr;
#endif
}
inline void* currentThreadRecord() {
#if SPANSCOPE_THREAD_SANITIZER
  return __tsan_get_current_fiber();
#else
  return nullptr;
#endif
}
inline void dropThreadRecord([[maybe_unused]] void* record) {
#if SPANSCOPE_THREAD_SANITIZER
  __tsan_destroy_fiber(record);
#endif
}
inline void switchThreadRecord([[maybe_unused]] void* record) {
#if SPANSCOPE_THREAD_SANITIZER
  __tsan_switch_to_fiber(record, __tsan_switch_to_fiber_no_sync);
#endif
}

/// What was done before this call comes before what is done after an `acquire` of the same place.
inline void release([[maybe_unused]] void* place) {
#if SPANSCOPE_THREAD_SANITIZER
  __tsan_release(place);
#endif
}
inline void acquire([[maybe_unused]] void* place) {
#if SPANSCOPE_THREAD_SANITIZER
  __tsan_acquire(place);
#endif
}

/// While an object of this class exists, reads and writes of the calling fiber belong to the emulation and
/// are no races.
class Unseen {
 public:
  Unseen() {
#if SPANSCOPE_THREAD_SANITIZER
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
  }
  ~Unseen() {
#if SPANSCOPE_THREAD_SANITIZER
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
};

}  // namespace spanscope::cuda::emulation
