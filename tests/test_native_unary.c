/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one element against the reference kernels. */
#include "engine_case.h"
static void t(void**s){(void)s; check_case(&(struct engine_case){"Relu 14 (f32[2,3,5])",.is_reference=1});}
int main(void){const struct CMUnitTest tests[]={cmocka_unit_test(t)};return cmocka_run_group_tests(tests,NULL,NULL);}
