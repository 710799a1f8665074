/* An object that ptoc has not made. */
extern const int no_table;
const int no_table = 1;
